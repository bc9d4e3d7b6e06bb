// Replays: a plan with its price, running it, and what was left. Beside them dead letters: their bytes, why, and how they are mended.

import {address, asCommands, call, get, may, segment, target} from './api.js'
import {announce, button, bytes, copier, count, duration, el, facts, notice, plural, say, shell, show, state, table, time, tone} from './kit.js'
import {pretty} from './json.js'
import {present} from './live.js'
import {asWords, terms} from './requests.js'
import {counts, go, link, needs, pager, problemNotice, watchNew} from './view.js'

/** The number of requests from which on it must be typed. */
const unasked = 1000
const atWork = ['starting', 'running', 'paused']
/** What is being planned has no figures yet. */
const isDraft = (plan) => plan.requests === undefined
/** The requests that were dealt with and not replayed. */
const leftOut = ({next, replayed}) => next - replayed

// Who has it run, and what the keys file says of that key.
const byText = ({actor, comment}) => [actor, comment].filter(Boolean).join(', ')

const columns = [
  {title: 'Replay', row: true, cell: (job) => el('a', {href: link('replays', job.id), class: 'mono'}, job.id)},
  {title: 'State', cell: (job) => state(job.state, tone(job.state))},
  {title: 'Dealt with', number: true, cell: (job) => isDraft(job) ? '–' : `${count(job.next)} / ${count(job.requests)}`},
  {title: 'Of them left out', number: true, cell: (job) => count(isDraft(job) ? undefined : leftOut(job))},
  {title: 'What', cell: (job) => el('span', {class: 'clip'}, job.source === 'deadletter' ? 'dead letters' : isDraft(job) ? '–' : job.filter || 'everything that failed')},
  {title: 'Reason', cell: (job) => el('span', {class: 'clip'}, job.reason || '–')},
  {title: 'By', cell: (job) => el('span', {class: 'clip small'}, byText(job) || '–')},
  {title: 'Planned', cell: (job) => time(job.created_at)},
]

function openList(view) {
  const path = (cursor) => target('v1/replays', {limit: 50, cursor})
  const place = el('section', {class: 'card'})
  const pages = pager(view, {
    place, ask: (cursor) => get(path(cursor), view.signal),
    list: table('Replays', columns, {hidden: true, data: (job) => ({'data-row': true, 'data-replay': job.id})}),
    empty: el('p', {}, 'No replay was planned yet. ', el('a', {href: link('failures')}, 'Failures'), ' has what can be repeated.'),
  })
  view.frame(el('div', {class: 'row end'}, needs('replay', button('New plan…', () => go(link('replays', 'new'))))),
    watchNew(view, async () => (await get(path(), view.signal)).items.map((job) => job.id), () => pages.items.map((job) => job.id), () => pages.load()),
    place, asCommands([{path: path()}], ['pushfan replay list']))
  pages.load()
}

// A plan to be made.

const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean)

function openNew(view) {
  const members = view.members
  const field = (name, label, properties = {}, hint) => el('label', {class: 'field'}, label, el('input', {name, value: members.get(name) ?? '', autocomplete: 'off', spellcheck: 'false', ...properties}), hint ? el('span', {class: 'small soft'}, hint) : null)
  const places = members.getAll('place')
  const ambiguous = el('input', {type: 'checkbox', name: 'ambiguous', checked: members.get('mode') === 'include_ambiguous'})
  const edits = el('textarea', {name: 'set', rows: 2, class: 'short', 'aria-label': 'Changes'}, members.get('set') ?? '')
  const where = el('div')
  const commands = el('div')
  const submit = el('button', {class: 'main', 'data-action': 'plan'}, 'Plan: nothing is sent yet')
  const form = el('form', {class: 'card form', oninput: showCommands, onsubmit: make},
    places.length
      ? facts([['Dead letters', places.join(', ')]])
      : field('filter', 'Which results', {}, 'Empty: everything that failed. What fails after the plan is made is not in it.'),
    field('reason', 'Reason', {required: true, maxlength: 512}, 'It stands in every new result.'),
    field('rate', 'Requests a second', {type: 'number', min: 1, max: 1000000, placeholder: '500'}),
    places.length ? null : el('label', {class: 'check'}, ambiguous, 'Also those that may have arrived (they may ring twice)'),
    el('label', {class: 'field'}, 'Changes, one on each line, such as hub=north', edits),
    el('div', {class: 'row'}, needs('replay', submit)), where)

  function order() {
    const value = (name) => form.elements.namedItem(name)?.value.trim()
    const set = lines(edits.value)
    return {
      filter: places.length ? undefined : value('filter'), ...places.length ? {source: 'deadletter', places} : {}, reason: value('reason'),
      ...value('rate') ? {rate: Number(value('rate'))} : {}, ...ambiguous.checked ? {mode: 'include_ambiguous'} : {}, ...set.length ? {set} : {},
    }
  }
  function showCommands() {
    const body = order()
    view.remember([...places.map((place) => ['place', place]), ...Object.entries({filter: body.filter, reason: body.reason, rate: body.rate, mode: body.mode, set: body.set?.join('\n')})])
    const flags = [...(body.set ?? []).map((one) => `--set ${shell(one)}`), body.mode ? '--include-ambiguous' : '', body.rate ? `--rate ${body.rate}` : '', `--reason ${shell(body.reason || 'REASON')}`]
    show(commands, asCommands([{method: 'POST', path: 'v1/replays', body: {...body, reason: body.reason || 'REASON'}}], [
      [`pushfan replay ${places.length ? 'deadletter' : 'plan'}`, ...places.map((place) => `--at ${shell(place)}`), ...flags, ...places.length ? [] : ['--file plan.ndjson', ...asWords(body.filter ?? '')]].filter(Boolean).join(' ')], commands))
  }
  async function make(event) {
    event.preventDefault()
    submit.disabled = true
    show(where, el('p', {role: 'status'}, 'Planning: reading what matches…'))
    try {
      const made = await call('POST', 'v1/replays', {body: order(), signal: view.signal})
      go(link('replays', made.json.id))
    } catch (problem) {
      if (view.signal.aborted) return
      submit.disabled = false
      show(where, problemNotice(problem))
    }
  }
  view.frame(null, el('p', {class: 'soft'}, 'A plan counts what a replay would send and what it costs. It is shown before anything is sent.'), form, commands)
  showCommands()
  view.ready()
  form.querySelector(members.get('filter') || places.length ? '[name=reason]' : 'input')?.focus()
}

// One plan and its run.

const leftWords = {
  delivered: 'delivered: nothing is left to repair', replayed: 'replayed before; if that failed, its own result can be replayed', ambiguous: 'may have arrived, and could ring twice',
  cancelled: 'cancelled', expired: 'expired; a new expiry gives it a new life', no_target: 'no device was registered for it', pointless: 'would fail again in the same way',
  parts: 'sent in parts; each has a result of its own', unspecific: 'which of its calls failed is not known', gone: 'no longer in Kafka', changed: 'would become other calls than it was: settings here differ from the worker\'s',
  exhausted: 'replayed too often in a row', invalid: 'no valid request, as it is or with the changes', cut: 'the dead letter does not hold the whole record',
  broken: 'would be a dead letter again',
  uncounted: 'left out by the run a moment ago',
}
const openWords = {planned: 'the plan was not run so far', stopped: 'the replay was stopped before it', done: 'the run was interrupted before it', interrupted: 'the run was interrupted before it'}
const leftWord = (why, state) => leftWords[why] ?? (why === 'open' ? openWords[state] ?? 'its turn has not come yet' : why)

/** What a replay has left, as pairs of a number and why: left by the plan, left by its runs, and not come to. */
export function leftLines({state, left = {}, left_by_run: byRun = {}, requests, next, replayed}) {
  const all = {}
  const add = (why, number) => { if (number > 0) all[why] = (all[why] ?? 0) + number }
  for (const [why, number] of [...Object.entries(left), ...Object.entries(byRun)]) add(why, number)
  add('uncounted', next - replayed - Object.values(byRun).reduce((sum, number) => sum + number, 0))
  add('open', requests - next)
  return Object.entries(all).sort(([, one], [, other]) => other - one).map(([why, number]) => [number, leftWord(why, state)])
}

// What a plan adds to a filter without states or kinds. To name cancelled requests would repeat them.
const usual = ['state:failed,partial,rejected,expired,cancelled,unknown', 'kind:final,outcome']

/**
 * The form of a plan of what one that was stopped has not come to. What that has repeated is not repeated again, so it is the same filter, up to
 * the same moment. A change whose value is not shown stands there without one, and no plan is made until it has one.
 */
export function restOf({filter = '', created_at: at, reason, rate, mode, set = []}) {
  const kept = terms(filter).filter((term) => !usual.includes(term))
  return {filter: [...kept, ...kept.some((term) => term.startsWith('until:')) ? [] : [`until:${at}`]].join(' '), reason, rate,
    mode: mode === 'include_ambiguous' ? mode : '', set: set.map((one) => one.endsWith('…') ? one.split('=')[0] : one).join('\n')}
}

function openOne(view) {
  const path = `v1/replays/${segment(view.id)}`
  const body = el('div', {class: 'card'}, el('p', {class: 'soft'}, 'Reading the plan…'))
  const said = el('div')
  const commands = el('div')
  let plan = null, etag = null, events = null, bar = null, hasCounts = false

  // The results are counted where an index does it, or when somebody asks for it: else it is a search.
  async function ask(isCounted) {
    const found = await call('GET', isCounted ? `${path}?results=true` : path, {signal: view.signal})
    if (view.signal.aborted) return
    const before = plan
    plan = {results: before?.results, ...found.json}
    etag = found.etag ?? etag
    hasCounts = Boolean(found.json.results)
    show(said)
    if (!before || before.state !== plan.state || isDraft(before) !== isDraft(plan)) draw()
    progress(plan)
    view.ready()
    follow()
  }
  const again = (isCounted) => view.run(() => ask(isCounted), said)

  // Progress comes as events while it is at work and somebody looks, also while the figures are frozen.
  function follow() {
    if (events?.readyState === EventSource.CLOSED) events = null
    const isWanted = atWork.includes(plan?.state) && !document.hidden && !view.signal.aborted
    if (isWanted === Boolean(events)) return
    events?.close()
    events = isWanted ? new EventSource(address(`${path}/events`)) : null
    events?.addEventListener('progress', (event) => progress(JSON.parse(event.data)))
    events?.addEventListener('end', () => { events.close(); events = null; again() })
  }
  document.addEventListener('visibilitychange', follow, {signal: view.signal})
  view.signal.addEventListener('abort', () => { events?.close(); events = null })

  function progress(now) {
    if (now.state !== plan.state) return again()
    Object.assign(plan, now)
    if (!bar) return
    bar.meter.max = Math.max(1, plan.requests)
    bar.meter.value = plan.next
    document.querySelectorAll('[data-stopping]').forEach((node) => say(node, dealtWith()))
    say(bar.text, `${count(plan.next)} of ${count(plan.requests)} dealt with, ${count(leftOut(plan))} left out`)
    const lines = leftLines(plan), left = lines.map(([number, why]) => `${count(number)} ${why}`).join('\n')
    say(bar.count, lines.reduce((sum, [number]) => sum + number, 0))
    if (bar.left.dataset.text !== left) {
      bar.left.dataset.text = left
      show(bar.left, lines.map(([number, why]) => el('li', {}, `${count(number)}: ${why}`)))
    }
    if (plan.results) say(bar.results, `Results so far: ${counts(plan.results) || 'none'}`)
    else if (!bar.results.children.length) show(bar.results, button('Count its results', () => again(true)))
    if (plan.state === 'running') announce(bar.text.textContent)
  }

  async function command(verb, options) {
    const controls = [...body.querySelectorAll('[data-action]:enabled')]
    controls.forEach((control) => control.toggleAttribute('disabled', true))
    show(said, el('p', {role: 'status'}, 'Asking the runner…'))
    try {
      await call('POST', `${path}:${verb}`, options)
      await ask()
    } catch (problem) {
      if (view.signal.aborted) return
      show(said, problemNotice(problem))
    }
    controls.forEach((control) => control.toggleAttribute('disabled', false))
  }

  function runForm() {
    const isMany = plan.requests > unasked
    const reason = el('input', {name: 'reason', value: plan.reason ?? '', required: true, maxlength: 512, autocomplete: 'off'})
    const typed = isMany ? el('input', {name: 'count', inputmode: 'numeric', required: true, autocomplete: 'off', oninput: () => checkTyped()}) : null
    const number = () => Number((typed?.value ?? '').replace(/[\s,.'’_]/g, '') || NaN)
    const checkTyped = () => typed?.setCustomValidity(number() === plan.requests ? '' : `Type ${count(plan.requests)}`)
    checkTyped()
    const speed = el('input', {name: 'rate', type: 'number', min: 1, max: 1000000, value: plan.rate ?? '', placeholder: '500'})
    speed.addEventListener('change', () => view.run(async () => {
      const found = await get(target(path, {rate: speed.value}), view.signal)
      say(body.querySelector('[data-count=seconds]'), duration(found.estimated_ms))
    }, said))
    const submit = (event) => {
      event.preventDefault()
      const wanted = {reason: reason.value.trim(), ...speed.value ? {rate: Number(speed.value)} : {}, ...typed ? {count: number()} : {}}
      command('run', {body: wanted, headers: {'If-Match': etag}})
    }
    const go = el('button', {class: 'main', 'data-action': 'run'}, plan.state === 'planned' ? `Send ${plural(plan.requests, 'request')}${plan.source === 'deadletter' ? '' : ' again'}` : 'Go on with this replay')
    if (!plan.requests) go.disabled = true
    return el('form', {class: 'form', onsubmit: submit}, unmended(),
      el('label', {class: 'field'}, 'Reason', reason), el('label', {class: 'field'}, 'Requests a second', speed),
      typed ? el('label', {class: 'field'}, `More than ${count(unasked)}: type the number of requests, ${count(plan.requests)}`, typed) : null,
      el('div', {class: 'row'}, needs('replay', go), plan.requests ? null : el('span', {class: 'soft'}, 'Nothing in it can be repeated.')))
  }

  // What no repetition mends.
  function unmended() {
    const hubs = Object.entries(plan.unknown_hubs ?? {}).map(([hub, number]) => [`${plural(number, 'request')} would fail again: hub ${hub} is in no settings. Plan it with the change hub=NAME, or add the hub.`])
    const others = Object.entries(plan.repairs ?? {}).filter(([code]) => !(hubs.length && code === 'unknown_hub'))
      .map(([code, number]) => [`${plural(number, 'request')} would fail again unless the cause is mended first: `, el('span', {class: 'tag'}, code)])
    return hubs.length + others.length ? el('div', {class: 'notice warn', 'data-unmended': true}, [...hubs, ...others].map((line) => el('p', {class: 'clip'}, line))) : null
  }

  const dealtWith = () => `${count(plan.next)} of ${count(plan.requests)} were dealt with.`

  // To stop for good asks first.
  function askStop() {
    const dialog = el('dialog', {'aria-labelledby': 'stop-title', onclose: () => dialog.remove()}, el('div', {class: 'form'},
      el('h2', {id: 'stop-title'}, 'Stop this replay for good?'),
      el('p', {}, el('span', {'data-stopping': true}, dealtWith()), ' It runs on until you confirm, and cannot go on afterwards. What is left stays open, and a new plan can send it.'),
      el('div', {class: 'row'}, button('Stop for good', () => { dialog.close(); command('stop', {body: {}}) }, {class: 'main', 'data-action': 'stop-now'}), button('Close', () => dialog.close()))))
    document.getElementById('main').append(dialog)
    dialog.showModal()
  }

  const remove = () => view.run(async () => {
    await call('DELETE', path, {signal: view.signal})
    announce('The plan is deleted.', true)
    go(link('replays'))
  }, said)
  const removal = () => needs('replay', button('Delete this plan', remove, {'data-action': 'delete'}))

  function drawDraft() {
    const isPlanning = plan.state === 'planning'
    show(body, el('p', {'data-state': plan.state}, state(plan.state, tone(plan.state))),
      isPlanning ? el('p', {}, plan.of ? `${count(plan.read)} of ${count(plan.of)} records read.` : 'Reading what matches.') : null,
      plan.problem ? problemNotice({message: plan.problem.detail ?? String(plan.problem), ...plan.problem}) : null,
      isPlanning ? el('div', {class: 'row'}, needs('replay', button('Give up', () => command('stop', {body: {}}), {'data-action': 'give-up'}))) : el('div', {class: 'row'}, removal()))
    show(commands, asCommands([{path}], [], commands))
  }

  function draw() {
    const hadFocus = bar && (body.contains(document.activeElement) || document.activeElement === document.body)
    bar = null
    if (isDraft(plan)) return drawDraft()
    bar = {meter: el('progress', {'aria-label': 'Progress', max: Math.max(1, plan.requests), value: plan.next}), text: el('p', {'data-progress': true}), results: el('p', {class: 'soft', 'data-results': true}),
      left: el('ul', {'data-left': true}), count: el('span', {'data-count': 'left'})}
    const isPlanned = plan.state === 'planned', isOver = !['planned', ...atWork].includes(plan.state), isElsewhere = plan.matched === undefined
    const act = (verb, text) => needs('replay', button(text, () => command(verb, {body: {}}), {'data-action': verb}))
    show(body,
      el('p', {class: 'row'}, el('span', {'data-state': plan.state}, state(plan.state, tone(plan.state))), el('span', {class: 'soft'}, plan.source === 'deadletter' ? 'of dead letters' : 'of results')),
      el('div', {class: 'tiles'}, [
        ['requests', 'Requests to send', plan.requests], ['matched', 'Matched', plan.matched], ['safe', 'Safe to repeat', plan.eligible_by_safety?.safe],
        ['ambiguous', 'May have arrived', plan.eligible_by_safety?.ambiguous], ['calls', 'Hub calls', plan.calls],
      ].map(([name, text, number]) => el('div', {}, el('p', {class: 'small soft'}, text), el('p', {class: 'figure', 'data-count': name}, count(number)))),
      el('div', {}, el('p', {class: 'small soft'}, 'It takes at least'), el('p', {class: 'figure', 'data-count': 'seconds'}, duration(plan.estimated_ms)))),
      facts([
        ['Matches', plan.source === 'deadletter' ? undefined : el('span', {class: 'tag'}, plan.filter || 'everything that failed')], ['Frozen at', [time(plan.created_at), ': what fails later is not in it']],
        ['Changes', plan.set?.join(', ')],
        ['Reason', plan.reason], ['By', byText(plan)], ['Rate', plan.rate && `${count(plan.rate)} requests a second`], ['Started', plan.started_at && time(plan.started_at)],
      ]),
      plan.problem ? problemNotice({message: plan.problem.detail ?? String(plan.problem), ...plan.problem}) : null,
      isPlanned ? null : [bar.meter, bar.text, plan.source === 'deadletter' ? null : bar.results],
      isPlanned || plan.state === 'interrupted' ? (isElsewhere ? notice('', 'The plan is at another gateway, or at the command that made it.') : runForm()) : null,
      atWork.includes(plan.state) ? el('div', {class: 'row'}, plan.state === 'paused' ? act('resume', 'Go on with this replay') : act('pause', 'Pause this replay'), needs('replay', button('Stop for good…', askStop, {'data-action': 'stop'}))) : null,
      isPlanned && !isElsewhere ? el('div', {class: 'row'}, removal()) : null,
      // Requests in place of dead letters are new ones, and name no replay.
      isOver && plan.source !== 'deadletter' ? el('p', {}, el('a', {href: link('requests', undefined, {filter: `job:${plan.id}`}), 'data-action': 'results'}, 'See its results')) : null,
      plan.state === 'stopped' && !isElsewhere && plan.source !== 'deadletter' && plan.next < plan.requests ? el('div', {class: 'row'}, el('span', {'data-rest': true}, `It has not come to ${plural(plan.requests - plan.next, 'request')}.`), needs('replay', button('Plan the rest…', () => go(link('replays', 'new', restOf(plan))), {'data-action': 'plan-rest'}))) : null,
      samples(), leftovers(isElsewhere, isOver))
    if (hadFocus && !isPlanned) {
      body.querySelector('button[data-action]:enabled, a[data-action]')?.focus()
      announce(`The replay is ${plan.state}.`, true)
    }
    const wanted = {reason: plan.reason || 'REASON', ...plan.requests > unasked ? {count: plan.requests} : {}}
    show(commands, asCommands([{path}, ...isPlanned ? [{method: 'POST', path: `${path}:run`, headers: {'If-Match': etag}, body: wanted}] : [], {path: `${path}/leftovers`}],
      isPlanned ? [`pushfan replay run ${shell(`replay-${plan.id}.ndjson`)}`] : [`pushfan replay status ${shell(plan.id)}`], commands))
  }

  const samples = () => {
    if (!plan.samples?.length) return null
    const rows = table(`${plural(plan.samples.length, 'sample')} of ${count(plan.requests)}`, [
      {title: 'Request', row: true, cell: (item) => el('a', {href: link('requests', item.request_id), class: 'clip'}, item.request_id)},
      {title: 'At', cell: (item) => el('span', {class: 'mono clip'}, item.origin)},
      {title: 'Calls', number: true, cell: (item) => count(item.calls)},
    ], {data: () => ({'data-row': true})})
    rows.rows(plan.samples)
    return rows.node
  }

  const leftovers = (isElsewhere, isOver) => {
    const place = el('div')
    const pages = pager(view, {
      place, ask: (cursor) => get(target(`${path}/leftovers`, {limit: 100, cursor}), view.signal), empty: el('p', {class: 'soft'}, 'Nothing was left.'),
      list: table('Leftovers', [
        {title: 'Request', row: true, cell: (item) => el('a', {href: link('requests', item.request_id), class: 'clip'}, item.request_id)},
        {title: 'At', cell: (item) => el('span', {class: 'mono clip'}, item.origin)},
        {title: 'Why', cell: (item) => leftWord(item.left, plan.state)}], {hidden: true, data: () => ({'data-row': true})}),
    })
    return [el('h2', {}, isOver ? 'Leftovers: ' : 'Leftovers so far: ', bar.count), isElsewhere ? el('p', {class: 'soft'}, 'What the plan itself has left is known where it was made.') : null, bar.left,
      el('details', {ontoggle: (event) => event.target.open && pages.load()}, el('summary', {}, 'Each of them'), place)]
  }

  view.frame(el('p', {class: 'end row'}, copier(view.id), el('a', {href: link('replays')}, 'All replays')), said, body, commands)
  // A refusal stays one.
  const heed = (problem) => { if (problem?.status >= 400 && problem.status < 500) clearInterval(timer) }
  view.run(() => ask(), body).then(heed)
  // Whatever may change by itself is asked for again, each time a little later, until there is a result for each request.
  let wait = 2, ticks = 0
  const isSettled = () => isDraft(plan) ? plan.state !== 'planning'
    : !['planned', ...atWork].includes(plan.state) && (!hasCounts || Object.values(plan.results).reduce((all, one) => all + one, 0) >= plan.replayed)
  const timer = setInterval(() => {
    if (document.hidden || plan && isSettled() || ++ticks < wait) return
    ticks = 0
    wait = plan?.state === 'planning' ? 2 : atWork.includes(plan?.state) ? 5 : Math.min(60, wait * 2)
    again().then(heed)
  }, 1000)
  view.signal.addEventListener('abort', () => clearInterval(timer))
}

// Dead letters.

/** Bytes in rows of sixteen: offset, hexadecimal, and the letters of ASCII. */
function hexRows(all, most = 1024) {
  const rows = []
  for (let at = 0; at < Math.min(all.length, most); at += 16) {
    const row = [...all.subarray(at, at + 16)]
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    rows.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${row.map((byte) => byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.').join('')}`)
  }
  if (all.length > most) rows.push(`… ${count(all.length - most)} bytes more`)
  return rows.join('\n')
}

const decoded = (letter) => letter.value_base64 !== undefined
  ? Uint8Array.from(atob(letter.value_base64), (character) => character.charCodeAt(0))
  : letter.value !== undefined ? new TextEncoder().encode(letter.value) : null

// An id is a place and a time, which has a column of its own.
const placeOf = (letter) => letter.id.split('@')[0]

function openLetters(view) {
  const {members} = view
  const query = (more) => target('v1/deadletters', {since: members.get('since'), until: members.get('until'), code: members.get('code'), limit: 50, ...more})
  const page = (cursor) => query({cursor})
  const opened = new Date(present()).toISOString()
  const place = el('section', {class: 'card'}, el('p', {class: 'soft'}, 'Reading…'))
  const detail = el('div')
  // The record itself comes only when its letter is opened, since a page of them is large.
  const read = async (id) => {
    detail.dataset.of = id
    try {
      const [letter] = (await get(target('v1/deadletters', {id, payload: may('read:payload') ? 'true' : undefined}), view.signal)).items
      if (detail.dataset.of !== id) return
      if (letter) showOne(detail, letter, view)
      else show(detail, notice('warn', `${id} is not there any more.`))
    } catch (problem) { if (!view.signal.aborted) show(detail, problemNotice(problem)) }
  }
  const pick = async (letter) => {
    members.set('at', letter.id)
    view.remember(Object.fromEntries(members))
    await read(letter.id)
    detail.querySelector('h2')?.focus()
  }
  const list = table('Dead letters', [
    {title: 'When', cell: (letter) => time(letter.at)},
    {title: 'Record', row: true, cell: (letter) => button(placeOf(letter), () => pick(letter), {class: 'bare mono clip'})},
    {title: 'From', cell: (letter) => letter.topic ?? '–'},
    {title: 'Why', cell: (letter) => [el('span', {class: 'tag'}, letter.code ?? 'unknown'), el('p', {class: 'small clip'}, letter.message ?? '')]},
    {title: 'Size', number: true, cell: (letter) => bytes(letter.bytes)},
    {title: 'Can go back', cell: (letter) => letter.can_go_back ? 'yes' : `no: ${leftWord(letter.left)}`},
  ], {hidden: true, data: (letter) => ({'data-row': true, 'data-letter': letter.id})})
  const pages = pager(view, {
    place, list, ask: (cursor) => get(page(cursor), view.signal), empty: el('p', {}, members.get('since') || members.get('code') ? 'No dead letter matches.' : 'Every record was understood.'),
  })
  const code = el('input', {name: 'filter', value: members.get('code') ?? '', 'aria-label': 'Code, such as unexpected_end', placeholder: 'Code, such as unexpected_end', autocomplete: 'off', spellcheck: 'false'})
  const since = el('select', {'aria-label': 'Since', onchange: () => apply()}, [['1h', 'Last hour'], ['1d', 'Last day'], ['7d', 'Last 7 days'], ['', 'Everything kept']]
    .map(([value, text]) => el('option', {value, selected: value === (members.get('since') ?? '')}, text)))
  const apply = (event) => {
    event?.preventDefault()
    go(link('deadletters', undefined, {code: code.value.trim(), since: since.value}))
  }
  const flags = [['since', members.get('since')], ['code', members.get('code')]].filter(([, value]) => value).map(([name, value]) => `--${name} ${shell(value)}`)
  view.frame(null, el('p', {class: 'soft'}, 'Records that no worker could understand. They were never sent; mended, they are published as new requests.'),
    el('form', {class: 'row', onsubmit: apply}, el('div', {class: 'combo'}, code), since, el('button', {class: 'main'}, 'Search')),
    watchNew(view, async () => (await get(query({limit: 20, since: pages.items[0]?.at ?? opened}), view.signal)).items.map((letter) => letter.id), () => pages.items.map((letter) => letter.id), () => pages.load()),
    place, detail, asCommands([{path: page()}], [['pushfan replay deadletter --dry-run', ...flags].join(' ')]))
  pages.load()
  if (members.get('at')) read(members.get('at'))
}

// One record: what it is, and a form that mends it. What is typed is sent as it is, so that no number changes on the way.
function showOne(place, letter, view) {
  const all = decoded(letter)
  const value = el('textarea', {name: 'value', spellcheck: 'false', 'aria-label': 'The record, mended', rows: 10}, pretty(letter.value ?? ''))
  const reason = el('input', {name: 'reason', required: true, maxlength: 512, autocomplete: 'off'})
  const said = el('div')
  const commands = el('div')
  const order = () => `${JSON.stringify({source: 'deadletter', places: [letter.id], reason: reason.value.trim() || 'REASON'}).slice(0, -1)},"value":${value.value.trim() || '{}'}}`
  const showCommands = () => show(commands, asCommands([{method: 'POST', path: 'v1/replays', body: order()}],
    [`pushfan replay deadletter --at ${shell(letter.id)} --value mended.json --reason ${shell(reason.value.trim() || 'REASON')}`], commands))
  const make = async (event) => {
    event.preventDefault()
    try { JSON.parse(value.value) } catch (error) {
      value.setAttribute('aria-invalid', 'true')
      value.focus()
      return show(said, notice('bad', el('p', {role: 'alert'}, `This is no JSON yet: ${error.message}`)))
    }
    value.removeAttribute('aria-invalid')
    try {
      go(link('replays', (await call('POST', 'v1/replays', {body: order(), signal: view.signal})).json.id))
    } catch (problem) { if (!view.signal.aborted) show(said, problemNotice(problem)) }
  }
  const isMendable = letter.can_go_back || letter.left === 'broken'
  show(place, el('section', {class: 'card', 'data-detail': letter.id}, el('h2', {tabindex: '-1', class: 'clip'}, `Record ${placeOf(letter)}`),
    facts([['Dead since', time(letter.at)], ['Came from', letter.from ?? letter.topic], ['Code', el('span', {class: 'tag'}, letter.code ?? 'unknown')], ['Why', letter.message], ['Size', bytes(letter.bytes)]]),
    all ? [
      el('h3', {}, 'As text'), el('pre', {tabindex: '0', 'aria-label': 'The record as text', dir: 'ltr'}, letter.value ?? new TextDecoder().decode(all)),
      el('details', {}, el('summary', {}, 'As bytes'), el('pre', {tabindex: '0', 'aria-label': 'The record as bytes', dir: 'ltr'}, hexRows(all)))]
      : el('p', {class: 'soft'}, may('read:payload') ? 'It has no value.' : 'A key with the scope read:payload sees the record.'),
    isMendable ? el('form', {class: 'form', onsubmit: make, oninput: showCommands},
      el('h3', {}, 'Mend and publish again'),
      el('label', {class: 'field'}, 'What is published in its place', value),
      el('label', {class: 'field'}, 'Reason', reason),
      el('div', {class: 'row'}, needs('publish', needs('replay', el('button', {class: 'main', 'data-action': 'plan'}, 'Plan: nothing is sent yet'))),
        letter.can_go_back ? needs('replay', button('Plan as it is…', () => go(link('replays', 'new', {place: letter.id})), {'data-action': 'replay'})) : null), said, commands) : null))
  if (isMendable) showCommands()
}

/** The screens. */
export const replays = {name: 'replays', title: () => 'Replays', open: openList}
export const replayNew = {name: 'plan', title: () => 'Plan a replay', open: openNew}
export const replay = {name: 'replay', title: (id) => `Replay ${id}`, open: openOne}
export const deadLetters = {name: 'deadletters', title: () => 'Dead letters', open: openLetters}
