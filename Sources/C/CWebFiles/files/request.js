// One request: what became of it, step by step, and its payloads.

import {asCommands, call, get, may, segment, target} from './api.js'
import {announce, button, bytes, copier, count, duration, el, facts, notice, plural, shell, show, state, table, time, tone, withCode} from './kit.js'
import {cancelDialog, countCommand, counting, holdButton, ordersOf, orderText} from './holds.js'
import {member, pretty, without} from './json.js'
import {isQuiet} from './live.js'
import {quoted} from './requests.js'
import {asResult, counts, doubts, go, link, needs, problemNotice} from './view.js'

// The tone of each verdict.
const tones = {sent: 'good', delivered: 'good', repaired: 'good', reached_nobody: 'bad', failed: 'bad', may_have_rung: 'bad', rejected: 'bad', dead_letter: 'bad',
  cancelled: 'soft', dry_run: 'soft', duplicate: 'soft', reached_some: 'warn', perhaps_twice: 'warn', sent_in_part: 'warn', expired: 'warn', unconfirmed: 'warn', published: 'warn',
  in_work: 'warn', waiting: 'warn', held: 'warn', behind_its_key: 'warn', in_parts: 'warn', cancelling: 'warn', not_known: 'warn', not_found: 'warn'}
// The zone in which a verdict tells moments: that of all others on the page.
const {timeZone: zone} = Intl.DateTimeFormat().resolvedOptions()
const safeties = {
  safe: 'Safe: no device can have been reached.', ambiguous: 'It may ring twice: it is unknown whether devices were reached.',
  duplicate_risk: 'It would ring again: devices were reached.', pointless: 'Pointless: it would end the same way.',
}
const partlySafe = 'Safe: it repeats what failed, which can have reached no device, and not what the hub accepted.'
const places = {
  published: 'It is published, and not read yet.', in_work: 'A worker has read it and is at work on it.', delayed: 'It waits until it is due.',
  held: 'It waits behind another with its ordering key.', done: 'The workers are done with it, and its result is not kept.',
  unknown: 'No record of it is in what was searched.',
}

/** Where a request is that has no result, in a sentence. */
export function placeText(where) {
  const {state: word, parts} = where ?? {}, {count: all, ended} = parts ?? {}
  if (word !== 'in_parts') return places[word] ?? word?.replaceAll('_', ' ')
  if (all === undefined) return `It was divided into parts, of which at least ${count(ended)} ${ended === 1 ? 'has' : 'have'} a result.`
  return ended < all ? `It was divided into ${plural(all, 'part')}: ${count(ended)} ${ended === 1 ? 'has' : 'have'} a result, ${count(all - ended)} ${all - ended === 1 ? 'is' : 'are'} on the way.`
    : `It was divided into ${plural(all, 'part')}. All have a result, and that of the whole is about to be written.`
}

const to = (one) => el('a', {class: 'clip', href: link('requests', one)}, one)
const found = (text, filter) => el('a', {href: link('requests', undefined, {filter})}, text)
const recordText = ({topic, partition, offset}) => `${topic}, partition ${partition}, offset ${offset}`

// An answer whose results are as the contract has them.
/** @returns {any} */
const asAnswer = ({life, result, ...answer}) => ({...answer, result: result && asResult(result),
  life: life && {...life, results: (life.results ?? []).map(asResult), replays: (life.replays ?? []).map(asResult)}})

// The result of a request, and the outcomes that its hub reported.
function read(answer) {
  const results = answer.life?.results ?? (answer.result ? [answer.result] : [])
  const finals = results.filter((result) => result.kind === 'final')
  // While a duplicate is all that there is, the first request with the id is still on its way.
  const own = finals.findLast((result) => result.state !== 'duplicate') ?? (!answer.state || answer.state === 'duplicate' ? finals.at(-1) : undefined)
  return {own, doubts: doubts(results, own, answer.life?.replays), outcomes: results.filter((result) => result.kind === 'outcome')}
}

// Abandoned and Unknown are failures, whatever else is said.
const fate = (outcome) => tone(outcome.hub_state) === 'bad' ? 'bad' : tone(outcome.outcome)
const worst = (outcomes) => ['bad', 'warn', 'good'].find((color) => outcomes.some((one) => fate(one) === color)) ?? 'soft'
const between = (from, to) => duration(Math.max(0, Date.parse(to) - Date.parse(from)))
const errorText = (error) => error && `${error.code}: ${error.message ?? ''}`
const callName = (send) => send ? `${send.index + 1}: ${send.platform}` : 'call'
const code = (text) => el('span', {class: 'mono small clip'}, text)

// A step: its title, its time, the gap before it, and more.
const step = (name, color, title, at, gap, ...more) => el('li', {class: color, 'data-step': name},
  el('div', {class: 'row'}, el('h3', {}, title), at && el('span', {class: 'small'}, time(at)), gap && el('span', {class: 'soft small'}, gap)), more)

function attemptTable(result) {
  const sends = new Map((result.sends ?? []).map((send) => [send.index, send]))
  const {node, rows} = table('Attempts', [
    {title: 'Time', cell: (one) => time(one.started_at)},
    {title: 'Call', row: true, cell: (one) => callName(sends.get(one.send))},
    {title: 'Attempt', number: true, cell: (one) => count(one.n)},
    {title: 'Result', cell: (one) => state(one.result, one.result === 'ok' ? 'good' : 'bad')},
    {title: 'The hub says', cell: (one) => [one.http_status, one.error_code].join(' ')},
    {title: 'Took', number: true, cell: (one) => duration(one.duration_ms)},
    {title: 'Then waited', number: true, cell: (one) => one.backoff_ms >= 0 ? duration(one.backoff_ms) : ''},
  ], {hidden: true})
  rows(result.attempts)
  return node
}

const lines = (items, line) => el('ul', {}, items.map((one) => el('li', {class: 'row'}, [line(one)].flat().filter(Boolean).map((part) => el('span', {class: 'clip'}, part)))))
const callLine = (send) => [callName(send), bytes(send.payload_bytes), state(send.outcome.replaceAll('_', ' '), tone(send.outcome)),
  send.error_code, send.tracking_id && ['tracking id ', code(send.tracking_id)]]
const outcomeLine = (one) => {
  const send = one.sends?.[0]
  return [callName(send), state(one.hub_state ?? one.state, fate(one)), counts(send?.pns_outcomes ?? {}),
  errorText(one.error), send?.notification_id && ['notification id ', code(send.notification_id)]]
}

// The times for which orders have held it.
const heldSpans = (answer) => answer.life?.held ?? answer.held ?? []
const heldLine = (span) => [span.to ? ['held from ', time(span.from), ' to ', time(span.to), ': '] : ['held since ', time(span.from), ': '], span.reason, span.by && `by ${span.by}`]

// A tenant, with what stands of it as a whole, and the way to hold it.
function tenantFact(tenant) {
  const orders = ordersOf('tenant', tenant)
  return el('span', {class: 'row'}, el('span', {class: 'clip'}, tenant), orders.map((order) => el('a', {href: link('holds'), class: 'clip'}, orderText(order))),
    orders.some((order) => order.kind === 'hold') ? null : holdButton({tenant}, `tenant ${tenant}`))
}

// A verdict, whose moments are in the reader's zone, and its reason.
const told = ({code, text, reason}, more) => [
  el('p', {class: 'clip', ...code === 'perhaps_twice' && {'data-twice': true}}, state(code.replaceAll('_', ' '), tones[code] ?? 'warn'), ' ', withCode(text)),
  (reason || more) && el('p', {class: 'clip soft'}, withCode(reason), more)]

// What was published within a minute with the same title to the same person.
const person = (audience) => audience?.kind === 'installations' ? 'installation' : 'user'
const twinText = ({id, published_at: at, state: word}, own, audience) => {
  const gap = Date.parse(at) - Date.parse(own)
  return el('p', {class: 'clip', 'data-twin': true}, 'Another request with the same title was published to the same ', person(audience), ' ', gap ? `${duration(Math.abs(gap))} ${gap > 0 ? 'later' : 'earlier'}` : 'at the same moment', ': ', to(id), ` (${word.replaceAll('_', ' ')}).`)
}

const twice = (doubts) => doubts.length > 0 && state(`Devices may have rung twice: ${doubts.join('; ')}.`, 'warn')

function resultFacts({outcome, error, targets, timings, replay_safety}, cause, doubts) {
  return facts([
    ['Outcome', outcome.replaceAll('_', ' ')],
    ['Error', errorText(error)],
    ['Faults', error?.faults && lines(error.faults, (fault) => `${fault.pointer ?? ''} ${fault.message}`)],
    ['Cause', cause && withCode(cause.cause)], ['What to do', cause && withCode(cause.remedy)],
    ['Calls', targets && counts(targets)], ['In doubt', twice(doubts) || null],
    ['Time', timings && `${duration(timings.hub_ms)} in calls, all together; ${duration(timings.throttle_wait_ms)} because the hub asked to wait`],
    ['Replay', replay_safety === 'safe' && targets?.accepted > 0 ? partlySafe : safeties[replay_safety] ?? replay_safety],
  ])
}

function steps(answer, cause) {
  const {own, outcomes, doubts} = read(answer), times = own?.timings ?? {}
  const made = [step('published', 'good', 'Published', times.published_at ?? answer.accepted_at, null, facts([
    ['Record', answer.topic && recordText(own?.origin ?? answer)], ['Source', own?.source], ['Tenant', own?.tenant && tenantFact(own.tenant)],
    ['To', answer.to && el('bdi', {}, answer.to.text)], ['Title', answer.title && el('bdi', {}, answer.title)],
    ['Labels', own?.labels && Object.entries(own.labels).map(([name, value]) => [el('bdi', {class: 'tag'}, `${name}=${value}`), ' '])], ['Not before', answer.due_at && time(answer.due_at)]]))]
  const spans = heldSpans(answer)
  if (spans.length) made.push(step('held', 'warn', 'Held', null, null, lines(spans, heldLine)))
  if (!own) return [...made, waiting(answer)]
  if (times.consumed_at) made.push(step('read', 'good', 'Read by a worker', times.consumed_at, `${duration(times.queue_ms)} in Kafka`, facts([['Worker', own.worker?.id], ['Hub', own.hub]])))
  if (own.targets?.planned) made.push(step('planned', 'good', own.parts ? `Divided into ${plural(own.parts.count, 'part')}` : `${plural(own.targets.planned, 'call')} planned`, null,
    times.first_attempt_at ? `${between(times.consumed_at, times.first_attempt_at)} until the first went` : 'none went', own.sends && lines(own.sends, callLine)))
  if (own.attempts?.length) made.push(step('attempts', own.attempts.some((one) => one.result !== 'ok') ? 'warn' : 'good', plural(own.attempts.length, 'attempt'), times.first_attempt_at, null, attemptTable(own)))
  made.push(step('result', doubts.length ? 'warn' : tone(own.state), state(`${own.state}${doubts.length && own.targets?.accepted ? ', perhaps twice' : ''}`, tone(own.state)), times.finished_at ?? own.at, `${duration(times.total_ms)} after it was published`, resultFacts(own, cause, doubts)))
  if (outcomes.length) made.push(step('outcome', worst(outcomes), "The hub's outcome", outcomes.at(-1).at, `${between(times.finished_at ?? own.at, outcomes.at(-1).at)} after the result`, lines(outcomes, outcomeLine)))
  else if (own.targets?.accepted) made.push(step('outcome', 'soft', "The hub's outcome is not known", null, 'it queued the calls; options.track_outcome follows them'))
  return made
}

function waiting({id, accepted_at, topic, whereabouts: where}) {
  return step('waiting', 'warn', where?.state === 'in_parts' ? 'On its way' : 'Not ended yet', null, accepted_at && `for ${between(accepted_at, new Date())}`, where && facts([
    ['Parts', where.parts && [found('Those with a result', `request:${id}.*`), `: ${count(where.parts.ended)} of ${where.parts.count === undefined ? 'more' : count(where.parts.count)}`]],
    ['At', where.topic && where.topic !== topic ? recordText(where) : null], ['Due', where.due && time(where.due)],
    ['Cancelled', where.cancelled_at && [time(where.cancelled_at), `, ${where.cancelled}`]],
    ['Searched', where.searched.filter((one) => one.of).map((one) => `${one.topic}: ${count(one.offsets)} of ${plural(one.of, 'offset')}`).join('; ')]]))
}

function family(answer) {
  const {id, life} = answer, {parent, parts, replay} = read(answer).own ?? {}
  return [
    ['Replay of', replay && [to(replay.parent_request_id), replay.root_request_id !== replay.parent_request_id && ['; the first of all is ', to(replay.root_request_id)]]],
    ['Replayed by', replay && [`${replay.actor}, “${replay.reason ?? ''}”, `, el('a', {href: link('replays', replay.job_id)}, 'the replay')]],
    ['Changed', replay?.modified?.join(', ')],
    ['Part of', parent && [to(parent.id), `, ${count(parent.chunk + 1)} of ${count(parent.chunks)}`]],
    ['Parts', parts && [found(`All ${count(parts.count)}`, `request:${id}.*`), `: ${counts({...parts, count: 0, not_sent: 0})}`]],
    ['Replays', life?.replays?.length > 0 && lines(life.replays.slice(-20), (one) => [to(one.request_id), state(one.state, tone(one.state)), time(one.at)])],
    [`Same title to the same ${person(answer.to)}`, answer.twins?.length > 0 && lines(answer.twins, (one) => [to(one.id), state(one.state.replaceAll('_', ' '), tone(one.state)), time(one.published_at)])],
    ['Duplicates', life?.duplicates > 0 && found(plural(life.duplicates, 'duplicate'), `request:${quoted(id)} state:duplicate`)],
  ].filter(([, value]) => value)
}

const block = (name, text) => el('pre', {tabindex: '0', role: 'region', 'aria-label': name}, text)

function rendered(one) {
  const name = `${one.platform}, part ${one.part}`
  return el('section', {'data-call': one.platform},
    el('div', {class: 'row'}, el('h3', {}, name), el('span', {class: one.body_bytes > one.body_bytes_allowed ? 'bad' : 'soft'}, `${count(one.body_bytes)} of ${count(one.body_bytes_allowed)} bytes allowed`)),
    block(`Head: ${name}`, [one.request_line, ...one.headers].join('\n')), block(`Body: ${name}`, pretty(one.body)))
}

function open(view) {
  const path = `v1/requests/${segment(view.id)}`
  const headline = el('div', {'data-verdict': true}), list = el('ol', {class: 'steps'}), kin = el('div', {hidden: true})
  const published = el('div', {class: 'form'}), calls = el('div', {class: 'form'}), as = el('div')
  const where = () => answer?.topic && `${answer.topic}/${answer.partition}/${answer.offset}`
  const paths = () => [target(path, {life: may('read') || undefined, zone}), ...may('read:payload') ? [target(path, {payload: true, at: where()})] : []]
  const others = new Map()
  let cancelling = may('operate') ? countCommand({request: view.id}) : null
  if (cancelling) others.set('v1/requests:cancel', counting({request: view.id}))
  const showCommands = (other) => show(as, asCommands([...paths().map((path) => ({path})), ...others.set(other?.path, other).values()].filter(Boolean),
    [`pushfan results show ${view.id.startsWith('-') ? '-- ' : ''}${shell(view.id)}`, cancelling].filter(Boolean), as))
  const replay = button('Replay this…', () => go(link('replays', 'new', {filter: `request:${quoted(answer?.id ?? view.id)}`})), {'data-action': 'replay'})
  const cancel = button('Cancel…', () => cancelDialog(view, answer?.id ?? view.id, {
    asked: (made, command) => {
      cancelling = command
      showCommands(made)
    },
    then: () => load(),
  }), {'data-action': 'cancel', 'aria-haspopup': 'dialog'})
  let answer, cause

  function render() {
    const {own, outcomes, doubts} = read(answer)
    const isRepaired = cause?.repaired > 0
    const color = !own ? tones[answer.verdict?.code] ?? 'warn' : doubts.length && tone(own.state) === 'good' && worst(outcomes) !== 'bad' ? 'warn' : isRepaired ? 'good' : tone(own.state) === 'good' && outcomes.length ? worst(outcomes) : tone(own.state)
    headline.className = `notice ${color}`
    const {verdict = {code: answer.state, text: placeText(answer.whereabouts) ?? answer.state}, twins = []} = answer, began = own?.timings?.published_at ?? answer.accepted_at
    show(headline, told(verdict, outcomes.length ? ` The hub said: ${[...new Set(outcomes.map((one) => one.hub_state ?? one.state))].join(', ')}.` : ''),
      own?.error && el('p', {class: 'clip'}, errorText(own.error)),
      isRepaired && verdict.code !== 'repaired' && el('p', {}, state('A replay has repaired it.', 'good')), twins.map((one) => twinText(one, began, answer.to)))
    show(list, steps(answer, cause))
    const relatives = family(answer)
    kin.hidden = !relatives.length
    show(kin, el('section', {class: 'card'}, el('h2', {}, 'Related'), facts(relatives)))
  }

  const load = () => view.run(async () => {
    try {
      answer = asAnswer(await get(paths()[0], view.signal))
    } catch (problem) {
      if (problem.status !== 404) throw problem
      view.frame(null, problemNotice(problem), el('a', {href: link('requests')}, 'All requests'))
      return view.ready()
    }
    render()
    view.ready()
    const {own} = read(answer)
    if (!own?.error || !may('read')) return
    // The failures know cause and remedy of a code, and whether a replay has repaired it.
    const failures = target('v1/failures', {filter: `request:${quoted(answer.id)} since:${own.timings?.published_at ?? own.at}`})
    showCommands({path: failures})
    const {items} = await get(failures, view.signal).catch(() => ({items: []}))
    cause = items.find((group) => group.code === own.error.code)
    render()
  }, headline)

  const showRequest = () => view.run(async () => {
    const request = member((await call('GET', paths()[1], {signal: view.signal})).text, 'request')
    if (!request) return show(published, notice('warn', 'Its record was not found: Kafka may not keep it any more, or it is no JSON.'))
    const text = block('The request as it was published', pretty(request))
    // The source is that of the key that published it, and another may not name it.
    const body = without(request, 'source')
    show(published, text, el('div', {class: 'row'}, needs('publish', button('Show the calls as rendered', () => showCalls(body), {'data-action': 'explain'}))))
    showCommands({method: 'POST', path: 'v1/requests:explain', body})
    text.focus()
  }, published)

  const showCalls = (body) => view.run(async () => {
    const {error, notes = [], calls: made = []} = (await call('POST', 'v1/requests:explain', {body, signal: view.signal})).json
    show(calls, el('p', {class: 'soft small'}, 'As this gateway renders it now, without signatures and handles.'),
      error && notice('bad', `${errorText(error)} ${error.pointer ?? ''}`),
      notes.map((note) => el('p', {}, `Note: ${note}.`)), made.map(rendered))
    announce(`${plural(made.length, 'call')} shown`, true)
  }, calls)

  // A state may be a search for the gateway, so it is asked for a little later each time. What is final is followed for the hub's outcome.
  let isAsking = false, wait = 2, ticks = 0
  const isSettled = () => {
    const {own, outcomes} = read(answer)
    // A result may be on its way into the index after the workers are done.
    return own ? !own.targets?.accepted || outcomes.length > 0 || wait >= 60 : answer.whereabouts?.state === 'done' && wait >= 60
  }
  const timer = setInterval(async () => {
    if (!answer || isAsking || isQuiet() || isSettled() || ++ticks < wait) return
    const before = `${answer.state} ${read(answer).outcomes.length}`
    isAsking = true
    ticks = 0
    wait = Math.min(60, wait * 1.5)
    await load()
    if (answer && before !== `${answer.state} ${read(answer).outcomes.length}`) {
      wait = 2
      announce(`Request ${answer.state}`, true)
    }
    isAsking = false
  }, 1000)
  view.signal.addEventListener('abort', () => clearInterval(timer))

  view.keys.r = () => replay.click()
  view.frame(el('div', {class: 'end row'}, copier(view.id), button('Refresh', load, {'data-action': 'refresh'}), needs('replay', replay), holdButton({request: view.id}, 'this request'), needs('operate', cancel)), headline,
    el('section', {class: 'card'}, el('h2', {}, 'Timeline'), list), kin,
    el('section', {class: 'card'}, el('h2', {}, 'Payloads'), el('div', {class: 'row'}, needs('read:payload', button('Show the request as published', showRequest, {'data-action': 'payload'}))), published, calls), as)
  showCommands()
  load()
}

/** The screen of one request. */
export const request = {name: 'request', title: (id) => `Request ${id}`, open}
