// Replays: a plan with its price, running it, and what was left.

import {address, asCommands, call, get, target} from './api.js'
import {announce, button, el, facts, notice, say, show, state, table} from './dom.js'
import {count, duration, plural, shell, time, tone} from './format.js'
import {isQuiet} from './live.js'
import {go, link, needs, problemNotice, watchNew} from './view.js'

/** The number of requests from which on it must be typed. */
const unasked = 1000
const atWork = ['starting', 'running', 'paused']

const columns = [
  {title: 'Replay', row: true, cell: (job) => el('a', {href: link('replays', job.id), class: 'mono'}, job.id)},
  {title: 'State', cell: (job) => state(job.state, tone(job.state))},
  {title: 'Done of', number: true, cell: (job) => `${count(job.next)} / ${count(job.requests)}`},
  {title: 'Left out', number: true, cell: (job) => count(job.skipped)},
  {title: 'What', cell: (job) => el('span', {class: 'clip'}, job.source === 'deadletter' ? 'dead letters' : job.filter || 'everything that failed')},
  {title: 'Reason', cell: (job) => el('span', {class: 'clip'}, job.reason || '–')},
  {title: 'By', cell: (job) => el('span', {class: 'clip small'}, job.actor || '–')},
  {title: 'Planned', cell: (job) => time(job.created_at)},
]

function openList(view) {
  const path = (cursor) => target('v1/replays', {limit: 50, cursor})
  const list = table('Replays', columns, {hidden: true, data: (job) => ({'data-row': true, 'data-replay': job.id})})
  const body = el('section', {class: 'card'})
  const more = el('div')
  let ids = []
  async function page(cursor) {
    const found = await get(path(cursor), view.signal)
    cursor ? list.add(found.items) : list.rows(found.items)
    ids = [...(cursor ? ids : []), ...found.items.map((job) => job.id)]
    show(body, ids.length ? [list.node, more] : el('p', {}, 'No replay was planned yet. ', el('a', {href: link('failures')}, 'Failures'), ' has what can be repeated.'))
    show(more, found.next ? button('More', () => view.run(() => page(found.next), more)) : null)
    view.ready()
  }
  view.frame(el('div', {class: 'row end'}, needs('replay', button('New plan…', () => go(link('replays', 'new'))))),
    watchNew(view, async () => (await get(path(), view.signal)).items.map((job) => job.id), () => ids, () => view.run(() => page(), body)),
    body, asCommands([{path: path()}], ['pushfan replay list']))
  view.run(() => page(), body)
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
  const form = el('form', {class: 'card form', oninput: showCommands, onsubmit: make},
    places.length
      ? facts([['Dead letters', places.join(', ')]])
      : field('filter', 'Which results', {}, 'Empty: everything that failed. What fails after the plan is made is not in it.'),
    field('reason', 'Reason', {required: true, maxlength: 512}, 'It stands in every new result.'),
    field('rate', 'Requests a second', {type: 'number', min: 1, max: 1000000, placeholder: '500'}),
    places.length ? null : el('label', {class: 'check'}, ambiguous, 'Also those that may have arrived (they may ring twice)'),
    el('label', {class: 'field'}, 'Changes, one on each line, such as hub=north', edits),
    el('div', {class: 'row'}, needs('replay', el('button', {class: 'main', 'data-action': 'plan'}, 'Plan: nothing is sent yet'))), where)

  function order() {
    const value = (name) => form.elements[name]?.value.trim()
    const set = lines(edits.value)
    return {
      ...places.length ? {source: 'deadletter', places} : {filter: value('filter')}, reason: value('reason'),
      ...value('rate') ? {rate: Number(value('rate'))} : {}, ...ambiguous.checked ? {mode: 'include_ambiguous'} : {}, ...set.length ? {set} : {},
    }
  }
  function showCommands() {
    const body = order()
    const flags = [...(body.set ?? []).map((one) => `--set ${shell(one)}`), body.mode ? '--include-ambiguous' : '', body.rate ? `--rate ${body.rate}` : '', `--reason ${shell(body.reason || 'REASON')}`]
    show(commands, asCommands([{method: 'POST', path: 'v1/replays', body}], [
      [`pushfan replay ${places.length ? 'deadletter' : 'plan'}`, ...places.map((place) => `--at ${place}`), ...(body.filter ?? '').split(' ').filter(Boolean).map(shell), ...flags, places.length ? '' : '--file plan.ndjson'].filter(Boolean).join(' ')]))
  }
  async function make(event) {
    event.preventDefault()
    const submit = form.querySelector('[data-action=plan]')
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
  ambiguous: 'may have arrived', duplicate_risk: 'would arrive twice', pointless: 'pointless to repeat', repaired: 'repaired already',
  gone: 'no longer in Kafka', open: 'not come to', expired: 'expired', being_repaired: 'being repaired', invalid: 'invalid',
}
const counts = (object) => Object.entries(object ?? {}).map(([word, number]) => `${count(number)} ${leftWords[word] ?? word.replaceAll('_', ' ')}`).join(', ')

function openOne(view) {
  const path = `v1/replays/${encodeURIComponent(view.id)}`
  const body = el('div', {class: 'card'}, el('p', {class: 'soft'}, 'Reading the plan…'))
  const said = el('div')
  const commands = el('div')
  let plan = null, etag = null, events = null, bar = null

  // The results are counted where an index does it, or when somebody asks for it: else it is a search.
  async function ask(isCounted) {
    const found = await call('GET', isCounted ? `${path}?results=true` : path, {signal: view.signal})
    if (view.signal.aborted) return
    const isNew = !plan || plan.state !== found.json.state || plan.samples?.length !== found.json.samples?.length
    plan = {results: plan?.results, ...found.json}
    etag = found.etag ?? etag
    if (isNew) draw()
    else progress(plan)
    if (plan.state === 'planning') setTimeout(() => { if (!view.signal.aborted) view.run(() => ask(), said) }, 1000)
    else view.ready()
    if (['starting', 'running', 'paused'].includes(plan.state)) listen()
  }

  function listen() {
    if (events) return
    events = new EventSource(address(`${path}/events`))
    events.addEventListener('progress', (event) => progress(JSON.parse(event.data)))
    events.addEventListener('end', () => { quiet(); view.run(() => ask(), said) })
    // A browser connects again by itself; if it gives up, asking again says how it stands.
    events.onerror = () => { if (events?.readyState === EventSource.CLOSED) { quiet(); setTimeout(() => view.signal.aborted || view.run(() => ask(), said), 2000) } }
  }
  function quiet() { events?.close(); events = null }
  view.signal.addEventListener('abort', quiet)

  function progress(now) {
    if (now.state !== plan.state) { view.run(() => ask(), said); return }
    Object.assign(plan, now)
    if (!bar) return
    bar.meter.max = Math.max(1, plan.requests)
    bar.meter.value = plan.next
    say(bar.text, `${count(plan.next)} of ${count(plan.requests)} dealt with, ${count(plan.skipped)} left out`)
    if (plan.results) say(bar.results, `Results so far: ${counts(plan.results) || 'none'}`)
    else if (!bar.results.children.length) show(bar.results, button('Count its results', () => view.run(() => ask(true), said)))
    if (plan.state === 'running') announce(bar.text.textContent)
  }

  async function command(verb, options) {
    try {
      await call('POST', `${path}:${verb}`, options)
      show(said)
      await ask()
    } catch (problem) {
      if (view.signal.aborted) return
      show(said, problemNotice(problem))
    }
  }

  function runForm() {
    const isMany = plan.requests > unasked
    const reason = el('input', {name: 'reason', value: plan.reason ?? '', required: true, maxlength: 512, autocomplete: 'off'})
    const typed = isMany ? el('input', {name: 'count', inputmode: 'numeric', required: true, autocomplete: 'off', pattern: String(plan.requests)}) : null
    const speed = el('input', {name: 'rate', type: 'number', min: 1, max: 1000000, value: plan.rate ?? '', placeholder: '500'})
    speed.addEventListener('change', () => view.run(async () => {
      const found = await get(target(path, {rate: speed.value}), view.signal)
      say(body.querySelector('[data-count=seconds]'), duration(found.seconds * 1000))
    }, said))
    const submit = (event) => {
      event.preventDefault()
      const wanted = {reason: reason.value.trim(), ...speed.value ? {rate: Number(speed.value)} : {}, ...typed ? {count: Number(typed.value.replace(/\D/g, ''))} : {}}
      command('run', {body: wanted, headers: {'If-Match': etag}})
    }
    const go = el('button', {class: 'main', 'data-action': 'run'}, plan.state === 'planned' ? `Send ${plural(plan.requests, 'request')} again` : 'Go on')
    if (!plan.requests) go.disabled = true
    return el('form', {class: 'form', onsubmit: submit},
      el('label', {class: 'field'}, 'Reason', reason), el('label', {class: 'field'}, 'Requests a second', speed),
      typed ? el('label', {class: 'field'}, `More than ${count(unasked)}: type the number of requests, ${plan.requests}`, typed) : null,
      el('div', {class: 'row'}, needs('replay', go), plan.requests ? null : el('span', {class: 'soft'}, 'Nothing in it can be repeated.')))
  }

  function draw() {
    const hadFocus = body.contains(document.activeElement)
    bar = {meter: el('progress', {'aria-label': 'Progress', max: Math.max(1, plan.requests), value: plan.next}), text: el('p', {'data-progress': true}), results: el('p', {class: 'soft', 'data-results': true})}
    const isPlanned = plan.state === 'planned', isOver = !['planned', 'planning', ...atWork].includes(plan.state)
    const act = (verb, text) => needs('replay', button(text, () => command(verb, {body: {}}), {'data-action': verb}))
    show(body,
      el('p', {class: 'row'}, el('span', {'data-state': plan.state}, state(plan.state, tone(plan.state))), el('span', {class: 'soft'}, plan.source === 'deadletter' ? 'of dead letters' : 'of results')),
      el('div', {class: 'tiles'}, [
        ['requests', 'Requests to send', plan.requests], ['matched', 'Matched', plan.matched], ['safe', 'Safe to repeat', plan.eligible?.safe],
        ['ambiguous', 'May have arrived', plan.eligible?.ambiguous], ['calls', 'Hub calls', plan.calls],
      ].map(([name, text, number]) => el('div', {}, el('p', {class: 'small soft'}, text), el('p', {class: 'figure', 'data-count': name}, count(number)))),
      el('div', {}, el('p', {class: 'small soft'}, 'It takes at least'), el('p', {class: 'figure', 'data-count': 'seconds'}, plan.seconds === undefined ? '–' : duration(plan.seconds * 1000)))),
      facts([
        ['Matches', plan.source === 'deadletter' ? undefined : el('span', {class: 'tag'}, plan.filter || 'everything that failed')], ['Frozen at', [time(plan.created_at), ': what fails later is not in it']],
        ['Left out', counts(plan.left) || 'nothing'], ['Left by the run', plan.left_by_run && (counts(plan.left_by_run) || 'nothing')], ['Changes', plan.set?.join(', ')],
        ['Reason', plan.reason], ['By', plan.actor], ['Rate', plan.rate && `${count(plan.rate)} requests a second`], ['Started', plan.started_at && time(plan.started_at)],
      ]),
      plan.problem ? problemNotice(plan.problem.detail ? {message: plan.problem.detail, ...plan.problem} : {message: String(plan.problem)}) : null,
      isPlanned ? null : [bar.meter, bar.text, bar.results],
      isPlanned || plan.state === 'interrupted' ? (plan.matched === undefined ? notice('', 'The plan is at another gateway, or at the command that made it.') : runForm()) : null,
      atWork.includes(plan.state) ? el('div', {class: 'row'}, plan.state === 'paused' ? act('resume', 'Go on') : act('pause', 'Pause the replay'), act('stop', 'Stop for good')) : null,
      isOver ? el('p', {}, el('a', {href: link('requests', undefined, {filter: `job:${plan.id}`}), 'data-action': 'results'}, 'See its results')) : null,
      samples(), leftovers())
    progress(plan)
    if (hadFocus) {
      const next = body.querySelector('button[data-action]:not(:disabled), a[data-action]')
      next?.focus()
      announce(`The replay is ${plan.state}.`, true)
    }
    show(commands, asCommands([{path}, ...isPlanned ? [{method: 'POST', path: `${path}:run`, headers: {'If-Match': etag}, body: {reason: plan.reason}}] : []],
      [`pushfan replay status ${plan.id}`, `pushfan replay leftovers ${plan.id}`]))
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

  const leftovers = () => {
    const inside = el('div')
    const page = async (cursor, rows) => {
      const found = await get(target(`${path}/leftovers`, {limit: 100, cursor}), view.signal)
      rows ??= table('Leftovers', [
        {title: 'Request', row: true, cell: (item) => el('a', {href: link('requests', item.request_id), class: 'clip'}, item.request_id)},
        {title: 'At', cell: (item) => el('span', {class: 'mono clip'}, item.origin)},
        {title: 'Why', cell: (item) => leftWords[item.left] ?? item.left}], {hidden: true})
      rows.add(found.items)
      show(inside, rows.body.children.length ? rows.node : el('p', {class: 'soft'}, 'Nothing was left.'), found.next ? button('More', () => view.run(() => page(found.next, rows), inside)) : null)
    }
    return el('details', {ontoggle: (event) => event.target.open && view.run(() => page(), inside)}, el('summary', {}, 'Leftovers: what was not sent, and why'), inside)
  }

  view.frame(el('p', {class: 'end'}, el('a', {href: link('replays')}, 'All replays')), said, body, commands)
  view.run(() => ask(), body)
  // The counts of results follow by themselves until there is one for each request.
  const isSettled = () => !plan?.results || !atWork.includes(plan.state) && Object.values(plan.results).reduce((all, one) => all + one, 0) >= plan.next - plan.skipped
  const timer = setInterval(() => { if (plan && plan.state !== 'planned' && !isSettled() && !isQuiet()) view.run(() => ask(), said) }, 3000)
  view.signal.addEventListener('abort', () => clearInterval(timer))
}

/** The screens. */
export const replays = {name: 'replays', title: () => 'Replays', open: openList}
export const replayNew = {name: 'plan', title: () => 'Plan a replay', open: openNew}
export const replay = {name: 'replay', title: (id) => `Replay ${id}`, open: openOne}
