// Is it moving, what waits, and what fails.

import {asCommands, get, may} from './api.js'
import {ago, announce, button, clockText, count, duration, el, minuteText, notice, plural, rate, say, show, state, svg, table, time, tone} from './kit.js'
import {holdButton, ordersOf, orderText} from './holds.js'
import {follow, isAway, isQuiet, live, present} from './live.js'
import {quoted} from './requests.js'
import {link, problemNotice} from './view.js'

const outcomes = [['sent', 'good'], ['partial', 'warn'], ['failed', 'bad'], ['rejected', 'ink'], ['others', 'soft']]
const lanes = {high: 'High', normal: 'Normal', bulk: 'Bulk', delayed: 'Delayed: retries and what is due later', held: 'Held by ordering keys', own: 'Parts of large requests, and replays'}
const ranges = [15, 30, 60]

const sum = (counts = {}) => Object.values(counts).reduce((all, one) => all + one, 0)
const share = (minute, name) => name === 'others'
  ? sum(minute.finished) - outcomes.reduce((all, [one]) => all + (one === 'others' ? 0 : minute.finished[one] ?? 0), 0)
  : minute.finished[name] ?? 0

const bad = (minute) => share(minute, 'failed') + share(minute, 'rejected')

// What does not wait for a hub that is out. Only what was sent has moved.
const rest = (fleet) => fleet.sent_per_second > 0 ? `the rest moves: ${rate(fleet.sent_per_second)} sent a second` : 'nothing is sent'

// Reports of workers come through Kafka, so they are missing only where Kafka has just shown what waits.
function silence(fleet, backlog) {
  if (!fleet.kafka || !backlog) return {tone: 'soft', text: 'No worker has reported yet, and Kafka has not answered yet.'}
  if (backlog.unknown || Date.parse(fleet.at) - Date.parse(backlog.at) > 10000) return {tone: 'bad', text: `No worker reports, and Kafka does not show what waits: it may be away since ${clockText(backlog.at)}.`}
  return {tone: 'bad', text: 'No worker reports. Requests wait in Kafka until one runs.'}
}

// What a terminal would do about it stands apart.
const withoutCommand = (text) => text.replace(/: [^:`]*`[^`]*`[^`]*$/, '')
function commandsOf(reasons) {
  const found = [...new Set(reasons.flatMap((reason) => [...reason.text.matchAll(/`(pushfan [^`]*)`/g)].map(([, line]) => line)))]
  return found.length > 0 && el('details', {class: 'small'}, el('summary', {}, 'As pushfan'), found.map((line) => el('p', {}, el('code', {}, line))))
}

/** The state of the whole in one sentence, from reports of workers and from the backlog. */
export function verdict({fleet, backlog, state}) {
  if (!fleet) return {tone: 'soft', text: 'Waiting for the first report of the workers.'}
  if (state === 'cut') return {tone: 'warn', text: 'Cut off from the gateway: these are the last figures that came.'}
  if (fleet.kafka?.reachable === false) return {tone: 'bad', text: `Kafka is away: ${fleet.kafka.problem}, since ${clockText(fleet.kafka.since)}. Nothing newer is known.`}
  if (fleet.workers.every((worker) => worker.stale)) return silence(fleet, backlog)
  const out = (fleet.hubs ?? []).filter((hub) => !hub.retired && (hub.circuit !== 'closed' || hub.trouble))
  const stuck = (backlog?.reasons ?? []).filter((reason) => reason.stuck)
  const moves = `${rate(fleet.finished_per_second)} finished a second${fleet.sent_per_second < fleet.finished_per_second ? `, ${rate(fleet.sent_per_second)} of them sent` : ''}`
  const known = backlog && !backlog.unknown
  const later = [backlog?.delayed && `${count(backlog.delayed)} delayed`, backlog?.held && `${count(backlog.held)} held by ordering keys`].filter(Boolean).join(' and ')
  const nothing = `nothing waits${later && ` but ${later}`}`
  const behind = known ? `, ${backlog.requests ? `${plural(backlog.requests, 'request')} behind, the oldest for ${duration(backlog.oldest_ms)}` : nothing}` : ', what waits is not known'
  if (out.length) return {tone: 'bad', text: `${out.map((hub) => `Hub ${hub.hub} is out`).join(', ')}; ${rest(fleet)}${behind}.`}
  if (stuck.length) return {tone: 'warn', text: `Something is stuck: ${moves}${behind}.`}
  if (!(fleet.finished_per_second > 0)) return known && !backlog.requests ? {tone: 'good', text: `Idle: ${nothing}.`, isIdle: true} : {tone: 'warn', text: `Nothing moves${behind}.`}
  return {tone: 'good', text: `Moving: ${moves}${behind}.`}
}

const circuit = (hub) => {
  if (hub.retired) return state('retired', 'soft')
  const word = {closed: 'closed', half_open: 'half open', open: 'open'}[hub.circuit] ?? hub.circuit
  return state(hub.circuit_reason && hub.circuit !== 'closed' ? `${word} (${hub.circuit_reason.replaceAll('_', ' ')})` : word, tone(hub.circuit))
}

const soon = (ms) => ms < 1000 ? 'now' : `in ${duration(ms)}`

function hold({hub, retired}) {
  const orders = ordersOf('hub', hub)
  return el('div', {}, orders.map((order) => el('p', {}, el('a', {href: link('holds'), class: 'clip'}, orderText(order)))),
    retired || orders.some((order) => order.kind === 'hold') ? null : holdButton({hub}, `hub ${hub}`))
}

const hubColumns = [
  {title: 'Hub', row: true, cell: (hub) => el('a', {href: link('failures', undefined, {filter: `hub:${quoted(hub.hub)}`})}, hub.hub)},
  {title: 'Circuit', cell: circuit},
  {title: 'Next probe', cell: (hub) => hub.circuit === 'open' && hub.circuit_change ? soon(Date.parse(hub.circuit_change) - present()) : ''},
  {title: 'In flight / limit', number: true, cell: (hub) => `${count(hub.in_flight)} / ${count(hub.limit)}`},
  {title: 'Wait for turn', number: true, cell: (hub) => count(hub.waiting_for_turn)},
  {title: 'Wait for timer', number: true, cell: (hub) => count(hub.waiting_for_timer)},
  {title: 'Calls/s, of limit', number: true, cell: (hub) => `${rate(hub.calls_per_second)}, ${hub.rate_per_second === undefined ? 'no limit' : `of ${rate(hub.rate_per_second)}`}`},
  {title: 'Throttled until', cell: (hub) => hub.throttled_until && Date.parse(hub.throttled_until) > present() ? time(hub.throttled_until) : ''},
  {title: 'Hold', cell: hold},
]

// The failures of an incident, which end with it.
const failuresOf = (incident, text) => el('a', {href: link('failures', undefined, {filter: incident.filter})}, text)

const incidentColumns = [
  {title: 'From', row: true, cell: (incident) => time(incident.from)},
  {title: 'To', cell: (incident) => incident.to ? time(incident.to) : state('lasts', 'bad')},
  {title: 'What', cell: (incident) => incident.text},
  {title: 'Failed', number: true, cell: (incident) => count(incident.failed)},
  {title: 'Expired', number: true, cell: (incident) => count(incident.expired)},
  {title: 'Waited', number: true, cell: (incident) => count(incident.waited)},
  {title: 'Open now', number: true, cell: (incident) => incident.filter ? failuresOf(incident, incident.open === undefined ? 'See' : count(incident.open)) : ''},
]

const mode = (worker) => worker.stale ? state('stale', 'bad') : state(worker.loops[0]?.mode ?? 'unknown', tone(worker.loops[0]?.mode))
const all = (worker, name) => worker.loops.reduce((total, loop) => total + (loop[name] ?? 0), 0)

const workerColumns = [
  {title: 'Worker', row: true, cell: (worker) => worker.id},
  {title: 'Mode', cell: mode},
  {title: 'Partitions', number: true, cell: (worker) => count(worker.partitions ?? all(worker, 'partitions'))},
  {title: 'Finished/s', number: true, cell: (worker) => rate(worker.finished_per_second ?? all(worker, 'finished_per_second'))},
  {title: 'In flight / limit', number: true, cell: (worker) => `${count(all(worker, 'in_flight'))} / ${count(all(worker, 'limit'))}`},
  {title: 'Oldest request', cell: (worker) => worker.oldest ? `${duration(Math.max(0, present() - Date.parse(worker.oldest.published_at)))}: ${worker.oldest.topic} ${worker.oldest.partition} at ${worker.oldest.offset}, waits for ${worker.oldest.waits_for}` : 'none'},
  {title: 'Rebalance', cell: (worker) => worker.last_rebalance ? ago(worker.last_rebalance) : ''},
  {title: 'Report', number: true, cell: (worker) => duration(worker.age_ms)},
]

/** The rows of a table before all are asked for. */
const fewest = 10

// The first rows of a long list, and a search in it: what is in trouble stands first.
function shortened(what, name, trouble, draw) {
  let isWhole = false
  const input = el('input', {type: 'search', 'aria-label': `Find a ${what}`, placeholder: `Find a ${what}`, 'data-find': what, oninput: () => draw()})
  const more = button('', () => { isWhole = !isWhole; draw() }, {'data-action': `all-${what}s`})
  const node = el('div', {class: 'row', hidden: true}, input, more)
  const pick = (items) => {
    node.hidden = items.length <= fewest
    // A short list has no search, so what was typed for a long one says nothing.
    const wanted = node.hidden ? '' : input.value.trim().toLowerCase()
    const found = items.filter((one) => name(one).toLowerCase().includes(wanted))
      .sort((one, other) => trouble(other) - trouble(one) || name(one).localeCompare(name(other)))
    say(more, isWhole ? `The first ${fewest}` : `All ${count(found.length)}`)
    more.hidden = found.length <= fewest
    return isWhole ? found : found.slice(0, fewest)
  }
  return {node, pick}
}

const hubTrouble = (hub) => hub.retired ? -1 : hub.circuit !== 'closed' ? 3 : hub.trouble || Date.parse(hub.throttled_until) > present() ? 2 : hub.waiting_for_turn > 0 ? 1 : 0
const workerTrouble = (worker) => worker.stale ? 3 : worker.loops.some((loop) => loop.trouble) ? 2 : worker.loops.some((loop) => loop.mode !== 'running') ? 1 : 0

function open(view) {
  if (!may('read')) {
    view.frame(null, notice('', 'The fleet is shown to keys with the scope read.'))
    return view.ready()
  }
  let minutes = ranges.includes(Number(view.members.get('minutes'))) ? Number(view.members.get('minutes')) : 60
  const incidents = el('div', {'data-incidents': true})
  const incidentTable = table('Incidents of the last 14 days', incidentColumns, {data: (incident) => ({'data-incident': incident.kind})})
  const incidentCard = el('section', {class: 'card', hidden: true}, incidentTable.node)
  const headline = el('div', {class: 'notice', 'data-verdict': true})
  const said = el('div', {class: 'row'})
  const tiles = {
    published: tile('Published a second', 'published'), finished: tile('Finished a second', 'finished', 'good'),
    backlog: tile('Waiting', 'backlog', 'warn'), latency: tile('Publish to final, median of 60 s', 'latency'),
    failed: tile('Failed or rejected in this minute', 'failed', 'bad'),
  }
  const plots = {
    outcomes: plot('Outcomes a minute', {format: count, step: 60000, empty: 'No request has finished.'}),
    latency: plot('Publish to final', {format: duration, scale: 'log', step: 60000, empty: 'No request has finished.'}),
    flow: plot('In and out a second, last 3 minutes', {format: rate, step: 1000}),
    backlog: plot('Oldest that waits, at the end of each minute', {format: duration, step: 60000, empty: 'Nothing has waited.'}),
  }
  const laneTable = table('Backlog by lane', [
    {title: 'Lane', row: true, cell: (lane) => lanes[lane.lane] ?? lane.lane},
    {title: 'Requests', number: true, cell: (lane) => count(lane.requests)},
    {title: 'Oldest', number: true, cell: (lane) => lane.requests && lane.oldest_ms !== undefined ? duration(lane.oldest_ms) : ''},
  ], {cards: false})
  const hubTable = table('Hubs', hubColumns, {data: (hub) => ({'data-hub': hub.hub})})
  const workerTable = table('Workers', workerColumns, {data: (worker) => ({'data-worker': worker.id})})
  const hubsShown = shortened('hub', (hub) => hub.hub, hubTrouble, () => showLive()), workersShown = shortened('worker', (worker) => worker.id, workerTrouble, () => showLive())
  const more = el('p', {class: 'soft small'})
  const range = el('select', {'aria-label': 'Range of the plots', onchange: (event) => { minutes = Number(event.target.value); view.remember({minutes}); ask() }},
    ranges.map((one) => el('option', {value: one, selected: one === minutes}, `Last ${one} minutes`)))
  let history = [], kind = '', isIdle = false, failures = null, counted = -1, owed = 0

  function showLive() {
    if (live.isPaused || view.signal.aborted) return
    const {fleet, backlog, series} = live
    if (live.state === 'refused') {
      show(headline, el('p', {}, live.reason || 'This key gets no live data.'))
      return view.ready()
    }
    showIncidents(fleet)
    const found = verdict(live)
    headline.className = `notice ${found.tone}`
    const reasons = backlog?.reasons ?? [], causes = isAway() ? [] : backlog?.causes ?? []
    isIdle = Boolean(found.isIdle)
    const open = isIdle && failures?.open ? `${failures.open === 1 ? '1 failure is' : `${count(failures.open)} failures are`} open` : ''
    const text = [found.text, open, ...reasons.map((reason) => reason.text), ...causes].join('\n')
    if (headline.dataset.text !== text) {
      headline.dataset.text = text
      show(headline, el('p', {}, state(found.text, found.tone), open && [' ', el('a', {href: link('failures'), 'data-open': true}, `${open}.`)]), reasons.map((reason) => el('p', {class: 'small'}, withoutCommand(reason.text))),
        causes.map((cause) => el('p', {class: 'small clip', 'data-behind': true}, cause)), commandsOf(reasons))
    }
    const now = found.tone + (fleet?.hubs ?? []).map((hub) => hub.circuit)
    if (kind !== now && kind) announce(found.text)
    kind = now
    if (!failures) askFailures()
    if (!fleet) return live.state === 'cut' && view.ready()
    // Figures that nobody can know while Kafka is away.
    const {finished_per_second: finished, calls_per_second: calls, latency} = (isAway() ? null : fleet) ?? {}
    const waits = isAway() || backlog?.unknown ? undefined : backlog
    tiles.published.update(rate(waits?.published_per_second), 'requests, at Kafka', series.map((one) => one.published))
    tiles.finished.update(rate(finished), `${rate(calls)} hub calls a second`, series.map((one) => one.finished))
    tiles.backlog.update(duration(waits?.oldest_ms), waits ? `${plural(waits.requests, 'request')}, ${count(waits.delayed)} delayed, ${count(waits.held)} held` : '', history.map((minute) => minute?.backlog?.oldest_ms), waits?.oldest_ms > 60000 ? 'warn' : '')
    tiles.latency.update(duration(latency?.p50_ms), `p95 ${duration(latency?.p95_ms)}, p99 ${duration(latency?.p99_ms)}`, history.map((minute) => minute?.latency?.p50_ms))
    plots.flow.update(series.map((one) => one.at), [
      {name: 'Published', tone: 'accent', line: 'dash', values: series.map((one) => one.published)},
      {name: 'Finished', tone: 'good', line: 'solid', values: series.map((one) => one.finished)}])
    laneTable.live(waits?.lanes ?? [], (lane) => lane.lane)
    hubTable.live(hubsShown.pick([...(fleet.hubs ?? [])]), (hub) => hub.hub)
    workerTable.live(workersShown.pick([...fleet.workers]), (worker) => worker.id)
    say(more, [fleet.hubs_omitted && `${count(fleet.hubs_omitted)} more hubs`, fleet.hubs_partial && 'reports had no room for every hub, so sums may be too low',
      fleet.workers_omitted && `${count(fleet.workers_omitted)} more workers`].filter(Boolean).join('; '))
    view.ready()
  }

  // Incidents that last or ended within a day, and the failures that are open. A link with the focus keeps it.
  function showIncidents(fleet) {
    const {incidents: known = [], open_failures: open, dead_letters: letters, dead_letters_at_most: isMost} = fleet ?? {}
    const left = [open && el('a', {href: link('failures')}, `${plural(open, 'failure')} open`), letters && el('a', {href: link('deadletters')}, `${isMost ? 'at most ' : ''}${plural(letters, 'dead letter')}`)].filter(Boolean)
    const text = JSON.stringify([known.map((incident) => [incident.text, incident.to]), open, letters])
    if (incidents.dataset.text === text || incidents.contains(document.activeElement)) return
    incidents.dataset.text = text
    show(incidents, known.map((incident) => el('p', {'data-incident': incident.id}, state(incident.text, incident.to ? 'warn' : 'bad'), ' ', el('span', {class: 'small soft'}, time(incident.from), ' → ', incident.to ? time(incident.to) : 'now', ' '), incident.filter && failuresOf(incident, 'Its failures'))),
      left.length > 0 && el('p', {class: 'small'}, left.map((one, place) => [place > 0 && ' · ', one])))
  }

  async function askIncidents() {
    const found = await get('v1/incidents', view.signal).catch(() => null)
    if (!found || view.signal.aborted) return
    incidentCard.hidden = !found.items.length
    incidentTable.live(found.items, (incident) => incident.id)
  }

  // Asks how many failures are open once more was finished, and again: the index is a second behind. Without one, which makes it a search, it asks once.
  async function askFailures() {
    if (!isIdle || failures?.searched?.by === 'scan') return
    const finished = sum(live.fleet.finished)
    if (finished !== counted) [counted, owed] = [finished, 2]
    if (owed-- <= 0) return
    failures ??= {}
    // Why it cannot be counted is said where the failures are.
    failures = await get('v1/failures', view.signal).catch(() => ({}))
    showLive()
  }

  function showHistory(begun) {
    const times = history.map((_, place) => begun + place * 60000)
    const draw = (one, values) => one.update(times, values)
    draw(plots.outcomes, outcomes.map(([name, tone]) => ({name, tone, values: history.map((minute) => minute && share(minute, name))})))
    draw(plots.latency, [['p50', 'accent', 'solid'], ['p95', 'accent', 'dash'], ['p99', 'ink', 'dot']].map(([name, tone, line]) =>
      ({name, tone, line, values: history.map((minute) => minute?.latency?.[`${name}_ms`])})))
    draw(plots.backlog, [{name: 'Oldest', tone: 'warn', line: 'solid', values: history.map((minute, place) => minute?.backlog?.oldest_ms ?? (place === history.length - 1 ? live.backlog?.oldest_ms : undefined))}])
    const last = history.at(-1)
    if (last) tiles.failed.update(count(bad(last)), `of ${plural(sum(last.finished), 'request')}`, history.map((minute) => minute && bad(minute)), bad(last) ? 'bad' : '')
  }

  // One entry for each minute, undefined for those of which nothing is known. What nobody saw before the first is left out.
  async function ask() {
    try {
      const found = await get(`v1/history?minutes=${minutes}`, view.signal)
      const at = (minute) => Math.round((Date.parse(minute.at) - Date.parse(found.since)) / found.step_ms)
      const known = new Map(found.items.map((minute) => [at(minute), minute]))
      const first = Math.min(...known.keys(), minutes - 10), last = Math.max(...known.keys(), 0)
      history = Array.from({length: last - first + 1}, (_, place) => known.get(first + place))
      showHistory(Date.parse(found.since) + first * found.step_ms)
      show(said)
    } catch (problem) {
      if (view.signal.aborted || problem.status === 401) return
      if (problem.status === 403) clearInterval(timer)
      show(said, problemNotice(problem))
    }
  }

  view.frame(el('div', {class: 'row end'}, range), said, incidents, headline,
    el('section', {class: 'tiles', 'aria-label': 'Now', 'data-live': true}, Object.values(tiles).map((one) => one.node)),
    el('div', {class: 'pair'}, plots.outcomes.node, plots.latency.node, plots.flow.node, plots.backlog.node),
    el('div', {class: 'third'}, el('section', {class: 'card'}, laneTable.node), el('section', {class: 'card'}, hubsShown.node, hubTable.node, more,
      el('p', {class: 'small'}, el('a', {href: link('failures')}, 'What fails, by cause')))),
    el('section', {class: 'card'}, workersShown.node, workerTable.node), incidentCard,
    asCommands([{path: 'v1/status'}, {path: 'v1/status/events', isStream: true}, {path: `v1/history?minutes=${minutes}`}, {path: 'v1/incidents'}, {path: 'v1/failures'}], ['pushfan status', 'pushfan status --incidents', 'pushfan failed --all']))
  const timer = setInterval(() => { if (!isQuiet()) { ask(); askIncidents(); askFailures() } }, 10000)
  view.signal.addEventListener('abort', () => clearInterval(timer))
  follow(showLive, view.signal)
  showLive()
  ask()
  askIncidents()
}

export const overview = {name: 'overview', title: () => 'Overview', open}

// Plots, drawn by hand as SVG, each with its table.

const height = 176
const edge = {left: 48, right: 8, top: 8, bottom: 20}

/** The round number at or above a value: 1, 2 or 5 times a power of ten. */
function roundUp(value) {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999)
}

/** The top of an axis: the greatest value, or less where few values are far above all others, so that those do not flatten the rest. */
export function topOf(values) {
  const known = values.filter((value) => value > 0).sort((one, other) => one - other)
  const most = known.at(-1) ?? 0, usual = known[Math.floor((known.length - 1) * .9)] ?? 0
  return known.length >= 10 && most > 5 * usual ? 2 * usual : most
}

const linear = (top) => ({top, at: (value) => value / top, ticks: [0, top / 2, top]})

// From 1 ms on, each power of ten has the same height.
function logarithmic(top) {
  const decades = Math.max(1, Math.ceil(Math.log10(Math.max(10, top))))
  return {top: 10 ** decades, at: (value) => Math.max(0, Math.log10(Math.max(1, value))) / decades, ticks: Array.from({length: decades + 1}, (_, power) => 10 ** power)}
}

const key = (series) => svg('svg', {viewBox: '0 0 20 12', 'aria-hidden': 'true'}, series.line
  ? svg('path', {class: `l l-${series.tone} ${series.line}`, d: 'M0 6H20'})
  : svg('rect', {class: `f-${series.tone}`, width: 20, height: 12}))

/**
 * A plot over time. Series are {name, tone, line, values}: with `line` (`solid`, `dash`, `dot`) a line each, else parts of one bar for each
 * time. A value that is not known is undefined. `update(times, series)` draws it, `step` is the time between two values.
 */
function plot(title, {format, scale = 'linear', step, empty = 'Nothing yet.'}) {
  const drawing = svg('svg', {class: 'plot', role: 'img'})
  const legend = el('ul', {class: 'legend'})
  const twin = el('div')
  const details = el('details', {ontoggle: () => fillTable()}, el('summary', {}, 'As a table'), twin)
  const node = el('figure', {class: 'card'}, el('h2', {}, title), drawing, legend, details)
  let times = [], series = [], width = 600, picked = null

  function fillTable() {
    if (!details.open) return show(twin)
    const rows = table(title, [
      {title: 'Time', row: true, cell: (place) => minuteText(times[place]) + (step < 60000 ? `:${String(new Date(times[place]).getSeconds()).padStart(2, '0')}` : '')},
      ...series.map((one) => ({title: one.name, number: true, cell: (place) => one.values[place] === undefined ? '–' : format(one.values[place])})),
    ], {hidden: true, cards: false})
    rows.rows(times.map((_, place) => times.length - 1 - place))
    show(twin, rows.node)
  }

  function label() {
    const place = picked ?? times.length - 1
    show(legend, series.map((one) => el('li', {}, key(one), `${one.name} `, el('b', {}, one.values[place] === undefined ? '–' : format(one.values[place])))),
      times.length ? el('li', {class: 'soft'}, picked === null ? 'latest' : `at ${minuteText(times[place])}`) : null)
  }

  function draw() {
    const from = times[0], span = Math.max(step, (times.at(-1) ?? 0) - from + step)
    const inner = {width: width - edge.left - edge.right, height: height - edge.top - edge.bottom}
    const sums = times.map((_, place) => series.reduce((sum, one) => sum + (one.values[place] ?? 0), 0))
    const isStack = series.every((one) => !one.line)
    const most = isStack ? Math.max(0, ...sums) : Math.max(0, ...series.flatMap((one) => one.values.map((value) => value ?? 0)))
    const axis = scale === 'log' ? logarithmic(most) : linear(roundUp(topOf(isStack ? sums : series.flatMap((one) => one.values))))
    const x = (time) => edge.left + (time - from) / span * inner.width
    const y = (value) => edge.top + inner.height * (1 - Math.min(1, axis.at(value)))
    const parts = (most ? axis.ticks : [0]).flatMap((tick) => [
      svg('path', {class: 'grid', d: `M${edge.left} ${y(tick).toFixed(1)}H${width - edge.right}`}),
      most ? svg('text', {x: edge.left - 6, y: y(tick) + 4, 'text-anchor': 'end'}, format(tick)) : null,
    ])
    if (times.length) {
      // As many labels as there is room for, none twice.
      let free = -Infinity, said = ''
      times.forEach((time, place) => {
        const text = minuteText(time), at = x(time)
        if (text === said || at < free || at > width - 40) return
        parts.push(svg('text', {x: at, y: height - 4, 'text-anchor': place ? 'middle' : 'start'}, text))
        free = at + Math.max(70, inner.width / 5)
        said = text
      })
    }
    if (isStack) {
      const bar = Math.max(1, inner.width * step / span - 1)
      times.forEach((time, place) => {
        let below = 0
        for (const one of series) {
          const value = one.values[place]
          if (!value) continue
          parts.push(svg('rect', {class: `f-${one.tone}`, x: x(time).toFixed(1), width: bar.toFixed(1), y: y(below + value).toFixed(1), height: Math.max(1, y(below) - y(below + value)).toFixed(1)}))
          below += value
        }
      })
    } else {
      for (const one of series) {
        let path = '', isDrawn = false
        one.values.forEach((value, place) => {
          if (value === undefined) { isDrawn = false; return }
          path += `${isDrawn ? 'L' : 'M'}${x(times[place]).toFixed(1)} ${y(value).toFixed(1)}${isDrawn ? '' : 'h.01'}`
          isDrawn = true
        })
        parts.push(svg('path', {class: `l l-${one.tone} ${one.line}`, d: path, 'stroke-linecap': 'round'}))
      }
    }
    // What is beyond the top says how much it is.
    const beyond = sums.map((sum, place) => isStack ? sum : Math.max(0, ...series.map((one) => one.values[place] ?? 0)))
    beyond.forEach((value, place) => {
      if (value > axis.top && value === Math.max(...beyond)) parts.push(svg('text', {x: Math.min(x(times[place]), width - 60), y: edge.top + 10}, `▲ ${format(value)}`))
    })
    if (picked !== null && times[picked] !== undefined) parts.push(svg('path', {class: 'now', d: `M${x(times[picked] + step / 2).toFixed(1)} ${edge.top}V${height - edge.bottom}`}))
    if (!most) parts.push(svg('text', {x: width / 2, y: height / 2, 'text-anchor': 'middle'}, empty))
    drawing.setAttribute('viewBox', `0 0 ${width} ${height}`)
    const last = series.map((one) => `${one.name} ${one.values.at(-1) === undefined ? 'not known' : format(one.values.at(-1))}`)
    drawing.setAttribute('aria-label', `${title}. Latest: ${last.join(', ')}. The table below has every value.`)
    show(drawing, parts)
    label()
  }

  drawing.addEventListener('pointermove', (event) => {
    if (!times.length) return
    const box = drawing.getBoundingClientRect()
    const share = ((event.clientX - box.left) / box.width * width - edge.left) / (width - edge.left - edge.right)
    const span = times.at(-1) - times[0] + step
    picked = Math.min(times.length - 1, Math.max(0, times.findLastIndex((time) => time <= times[0] + share * span)))
    draw()
  })
  drawing.addEventListener('pointerleave', () => { picked = null; draw() })
  new ResizeObserver(([entry]) => {
    const found = Math.round(entry.contentRect.width)
    if (found && found !== width) { width = found; draw() }
  }).observe(drawing)

  return {
    node,
    update(newTimes, newSeries) {
      const isLonger = newTimes.at(-1) !== times.at(-1)
      times = newTimes
      series = newSeries
      if (picked !== null && isLonger) picked = null
      draw()
      if (details.open && isLonger) fillTable()
    },
  }
}

/** A figure with a name, a small line of its last values, and a second line. */
function tile(name, metric, tone = 'accent') {
  const figure = el('p', {class: 'figure', 'data-metric': metric}, '–')
  const second = el('p', {class: 'small soft'}, '\u00a0')
  const line = svg('path', {class: `l l-${tone}`, d: '', 'vector-effect': 'non-scaling-stroke'})
  const spark = svg('svg', {class: 'spark', viewBox: '0 0 100 20', preserveAspectRatio: 'none', 'aria-hidden': 'true'}, line)
  return {
    node: el('div', {class: 'card'}, el('h2', {class: 'small soft'}, name), figure, second, spark),
    update(text, more, values = [], toneNow = '') {
      say(figure, text)
      say(second, more || '\u00a0')
      figure.className = `figure ${toneNow}`
      const known = values.filter((value) => value !== undefined)
      const top = Math.max(1e-9, topOf(known))
      const path = known.map((value, place) => `${place ? 'L' : 'M'}${(place / Math.max(1, known.length - 1) * 100).toFixed(1)} ${(19 - Math.min(1, value / top) * 18).toFixed(1)}`).join('')
      if (line.getAttribute('d') !== path) line.setAttribute('d', known.length > 1 ? path : '')
    },
  }
}
