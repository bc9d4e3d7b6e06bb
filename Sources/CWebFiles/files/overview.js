// Is it moving, what waits, and what fails.

import {asCommands, get, may} from './api.js'
import {ago, announce, count, duration, el, notice, plural, rate, say, show, state, table, time, tone, withCode} from './kit.js'
import {follow, isQuiet, live, present} from './live.js'
import {plot, tile} from './plots.js'
import {link, problemNotice} from './view.js'

const outcomes = [['sent', 'good'], ['partial', 'warn'], ['failed', 'bad'], ['rejected', 'ink'], ['others', 'soft']]
const lanes = {high: 'High', normal: 'Normal', bulk: 'Bulk', delayed: 'Delayed: retries and what is due later', held: 'Held by ordering keys', own: 'Parts of large requests, and replays'}
const ranges = [15, 30, 60]

const sum = (counts = {}) => Object.values(counts).reduce((all, one) => all + one, 0)
const share = (minute, name) => name === 'others'
  ? sum(minute.finished) - outcomes.reduce((all, [one]) => all + (one === 'others' ? 0 : minute.finished[one] ?? 0), 0)
  : minute.finished[name] ?? 0

const bad = (minute) => share(minute, 'failed') + share(minute, 'rejected')

/** The state of the whole in one sentence, from reports of workers and from the backlog. */
function verdict({fleet, backlog, state}) {
  if (!fleet) return {tone: 'soft', text: 'Waiting for the first report of the workers.'}
  if (state === 'cut') return {tone: 'warn', text: 'Cut off from the gateway: these are the last figures that came.'}
  const workers = fleet.workers.filter((worker) => !worker.stale)
  if (!workers.length) return {tone: 'bad', text: 'No worker reports. Requests wait in Kafka until one runs.'}
  const out = (fleet.hubs ?? []).filter((hub) => hub.circuit === 'open')
  const stuck = (backlog?.reasons ?? []).filter((reason) => reason.stuck)
  const moves = `${rate(fleet.finished_per_second)} finished a second`
  const known = backlog && !backlog.unknown
  const behind = known ? `, ${backlog.requests ? `${plural(backlog.requests, 'request')} behind, the oldest for ${duration(backlog.oldest_ms)}` : 'nothing waits'}` : ', what waits is not known'
  if (out.length) return {tone: 'bad', text: `${out.map((hub) => `Hub ${hub.hub} is out`).join(', ')}; the rest moves: ${moves}${behind}.`}
  if (stuck.length) return {tone: 'warn', text: `Something is stuck: ${moves}${behind}.`}
  if (!(fleet.finished_per_second > 0)) return known && !backlog.requests ? {tone: 'good', text: 'Idle: nothing waits.'} : {tone: 'warn', text: `Nothing moves${behind}.`}
  return {tone: 'good', text: `Moving: ${moves}${behind}.`}
}

const circuit = (hub) => {
  if (hub.retired) return state('retired', 'soft')
  const word = {closed: 'closed', half_open: 'half open', open: 'open'}[hub.circuit] ?? hub.circuit
  return state(hub.circuit_reason && hub.circuit !== 'closed' ? `${word} (${hub.circuit_reason.replaceAll('_', ' ')})` : word, tone(hub.circuit))
}

const soon = (ms) => ms < 1000 ? 'now' : `in ${duration(ms)}`

const hubColumns = [
  {title: 'Hub', row: true, cell: (hub) => hub.hub},
  {title: 'Circuit', cell: circuit},
  {title: 'Next probe', cell: (hub) => hub.circuit === 'open' && hub.circuit_change ? soon(Date.parse(hub.circuit_change) - present()) : ''},
  {title: 'In flight / limit', number: true, cell: (hub) => `${count(hub.in_flight)} / ${count(hub.limit)}`},
  {title: 'Wait for turn', number: true, cell: (hub) => count(hub.waiting_for_turn)},
  {title: 'Wait for timer', number: true, cell: (hub) => count(hub.waiting_for_timer)},
  {title: 'Calls/s, of limit', number: true, cell: (hub) => `${rate(hub.calls_per_second)}, ${hub.rate_per_second === undefined ? 'no limit' : `of ${rate(hub.rate_per_second)}`}`},
  {title: 'Throttled until', cell: (hub) => hub.throttled_until && Date.parse(hub.throttled_until) > present() ? time(hub.throttled_until) : ''},
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

function open(view) {
  if (!may('read')) {
    view.frame(null, notice('', 'The fleet is shown to keys with the scope read.'))
    return view.ready()
  }
  let minutes = ranges.includes(Number(view.members.get('minutes'))) ? Number(view.members.get('minutes')) : 60
  const headline = el('div', {class: 'notice', 'data-verdict': true})
  const said = el('div', {class: 'row'})
  const tiles = {
    published: tile('Published a second', 'published'), finished: tile('Finished a second', 'finished', 'good'),
    backlog: tile('Waiting', 'backlog', 'warn'), latency: tile('Publish to final, last minute', 'latency'),
    failed: tile('Failed or rejected in this minute', 'failed', 'bad'),
  }
  const plots = {
    outcomes: plot('Outcomes a minute', {format: count, step: 60000, empty: 'No request has finished.'}),
    latency: plot('Publish to final', {format: duration, scale: 'log', step: 60000, empty: 'No request has finished.'}),
    flow: plot('In and out a second, last 3 minutes', {format: rate, step: 1000}),
    backlog: plot('Age of the oldest that waits', {format: duration, step: 60000, empty: 'Nothing has waited.'}),
  }
  const laneTable = table('Backlog by lane', [
    {title: 'Lane', row: true, cell: (lane) => lanes[lane.lane] ?? lane.lane},
    {title: 'Requests', number: true, cell: (lane) => count(lane.requests)},
    {title: 'Oldest', number: true, cell: (lane) => lane.requests && lane.oldest_ms !== undefined ? duration(lane.oldest_ms) : ''},
  ], {cards: false})
  const hubTable = table('Hubs', hubColumns, {data: (hub) => ({'data-hub': hub.hub})})
  const workerTable = table('Workers', workerColumns, {data: (worker) => ({'data-worker': worker.id})})
  const more = el('p', {class: 'soft small'})
  const range = el('select', {'aria-label': 'Range of the plots', onchange: (event) => { minutes = Number(event.target.value); view.remember({minutes}); ask() }},
    ranges.map((one) => el('option', {value: one, selected: one === minutes}, `Last ${one} minutes`)))
  let history = [], kind = ''

  function showLive() {
    if (live.isPaused || view.signal.aborted) return
    const {fleet, backlog, series} = live
    if (live.state === 'refused') {
      show(headline, el('p', {}, live.reason || 'This key gets no live data.'))
      return view.ready()
    }
    const found = verdict(live)
    headline.className = `notice ${found.tone}`
    const reasons = backlog?.reasons ?? []
    const text = [found.text, ...reasons.map((reason) => reason.text)].join('\n')
    if (headline.dataset.text !== text) {
      headline.dataset.text = text
      show(headline, el('p', {}, state(found.text, found.tone)), reasons.map((reason) => el('p', {class: 'small'}, withCode(reason.text))))
    }
    const now = found.tone + (fleet?.hubs ?? []).map((hub) => hub.circuit)
    if (kind !== now && kind) announce(found.text)
    kind = now
    if (!fleet) return live.state === 'cut' && view.ready()
    tiles.published.update(rate(backlog?.published_per_second), 'requests, at Kafka', series.map((one) => one.published))
    tiles.finished.update(rate(fleet.finished_per_second), `${rate(fleet.calls_per_second)} hub calls a second`, series.map((one) => one.finished))
    tiles.backlog.update(duration(backlog?.oldest_ms), backlog && !backlog.unknown ? `${plural(backlog.requests, 'request')}, ${count(backlog.delayed)} delayed, ${count(backlog.held)} held` : '', history.map((minute) => minute?.backlog?.oldest_ms), backlog?.oldest_ms > 60000 ? 'warn' : '')
    tiles.latency.update(duration(fleet.latency?.p50_ms), `p95 ${duration(fleet.latency?.p95_ms)}, p99 ${duration(fleet.latency?.p99_ms)}`, history.map((minute) => minute?.latency?.p50_ms))
    plots.flow.update(series.map((one) => one.at), [
      {name: 'Published', tone: 'accent', line: 'dash', values: series.map((one) => one.published)},
      {name: 'Finished', tone: 'good', line: 'solid', values: series.map((one) => one.finished)}])
    laneTable.live(backlog?.lanes ?? [], (lane) => lane.lane)
    hubTable.live([...(fleet.hubs ?? [])].sort((one, other) => (one.circuit === 'closed') - (other.circuit === 'closed') || one.hub.localeCompare(other.hub)), (hub) => hub.hub)
    workerTable.live(fleet.workers, (worker) => worker.id)
    say(more, [fleet.hubs_omitted && `${count(fleet.hubs_omitted)} more hubs`, fleet.hubs_partial && 'reports had no room for every hub, so sums may be too low',
      fleet.workers_omitted && `${count(fleet.workers_omitted)} more workers`].filter(Boolean).join('; '))
    view.ready()
  }

  function showHistory(begun) {
    const times = history.map((_, place) => begun + place * 60000)
    const draw = (one, values) => one.update(times, values)
    draw(plots.outcomes, outcomes.map(([name, tone]) => ({name, tone, values: history.map((minute) => minute && share(minute, name))})))
    draw(plots.latency, [['p50', 'accent', 'solid'], ['p95', 'accent', 'dash'], ['p99', 'ink', 'dot']].map(([name, tone, line]) =>
      ({name, tone, line, values: history.map((minute) => minute?.latency?.[`${name}_ms`])})))
    draw(plots.backlog, [{name: 'Oldest', tone: 'warn', line: 'solid', values: history.map((minute) => minute?.backlog?.oldest_ms)}])
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

  view.frame(el('div', {class: 'row end'}, range), said, headline,
    el('section', {class: 'tiles', 'aria-label': 'Now', 'data-live': true}, Object.values(tiles).map((one) => one.node)),
    el('div', {class: 'pair'}, plots.outcomes.node, plots.latency.node, plots.flow.node, plots.backlog.node),
    el('div', {class: 'third'}, el('section', {class: 'card'}, laneTable.node), el('section', {class: 'card'}, hubTable.node, more,
      el('p', {class: 'small'}, el('a', {href: link('failures')}, 'What fails, by cause')))),
    el('section', {class: 'card'}, workerTable.node),
    asCommands([{path: 'v1/status'}, {path: 'v1/status/events', isStream: true}, {path: `v1/history?minutes=${minutes}`}], ['pushfan status']))
  const timer = setInterval(() => { if (!isQuiet()) ask() }, 10000)
  view.signal.addEventListener('abort', () => clearInterval(timer))
  follow(showLive, view.signal)
  showLive()
  ask()
}

export const overview = {name: 'overview', title: () => 'Overview', open}
