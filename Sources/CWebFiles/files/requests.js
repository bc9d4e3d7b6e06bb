// The results by a filter: the newest first, and how far was searched.

import {Problem, asCommands, get, may, listing} from './api.js'
import {announce, button, clockText, count, duration, el, mark, notice, plural, say, shell, show, state, table, time, tone} from './kit.js'
import {live} from './live.js'
import {asResult, doubts, go, link, needs, problemNotice, watchNew} from './view.js'

const errors = 'schema_invalid record_too_large unknown_hub not_configured expired_in_queue expired_on_hold duplicate ordering_key_full tag_expression_invalid tag_limit_exceeded '
  + 'payload_too_large payload_rejected hub_unauthorized hub_forbidden hub_not_found hub_quota hub_throttled hub_unavailable hub_timeout '
  + 'connect_failed tls_failed dns_failed response_invalid circuit_open cancelled worker_shutdown internal devices_refused nothing_counted '
  + 'no_target hub_abandoned hub_canceled hub_state_unknown telemetry_unfinished telemetry_missing telemetry_unanswered telemetry_unavailable'

// The names of filters: meanings, and values. Names without values take those on screen.
const names = {
  state: ['where the request stands', 'failed partial rejected expired unknown sent cancelled duplicate scheduled retrying'],
  since: ['when the result was written: so long ago, or later', '5m 15m 1h 1d 7d'],
  until: ['when the result was written: before that', '5m 15m 1h 1d 7d'],
  error: ['why it was no success', errors],
  hub: ["the hub's name"],
  platform: ['a platform that was called', 'apple fcmv1 gcm windows adm baidu browser xiaomi template'],
  safety: ['whether it may be replayed', 'safe ambiguous duplicate_risk pointless'],
  took: ['from publishing to the result', '>1s >10s >1m'],
  request: ["the request's id"],
  outcome: ['the class of what became of it', 'success transient throttled permanent auth payload no_target expired cancelled duplicate ambiguous'],
  status: ['a status that the hub answered with', '>=500 429 401 403 404'],
  attempts: ['attempts of the call that had most', '0 >1 >2'],
  queued: ['from publishing to the worker', '>1s >10s >1m'],
  kind: ['what the result is', 'final outcome interim'],
  hub_state: ["the hub's own word"],
  worker: ["the worker's name"],
  source: ['who published the request'],
  tenant: ['for whom'],
  topic: ['the topic that the request came from'],
  partition: ['the partition that it came from'],
  root: ['of a replay: the very first request'],
  parent: ['of a replay: the request that was replayed'],
  job: ['of a replay: the job'],
  actor: ['of a replay: who started the job'],
  generation: ['of a replay: 1, or more for a replay of a replay', '1 >1'],
}

const term = /(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g
/** The terms of a filter. */
export const terms = (filter) => filter.match(term) ?? []

/** A value for a filter: as it is, or within quotes. */
export const quoted = (value) => /^[^\s,"*]+$/.test(value) ? value : `"${String(value).replace(/["\\]/g, '\\$&')}"`

/** What may stand at the caret: texts that replace all between `from` and the caret. `seen` has the values of names. */
function suggest(filter, caret, seen = new Map()) {
  const before = filter.slice(0, caret)
  const last = [...before.matchAll(term)].at(-1)
  const from = last && last.index + last[0].length === caret ? last.index : caret
  const [, minus, name, colon, value] = before.slice(from).match(/^(-?)([^:]*)(:?)(.*)$/s)
  if (!colon) {
    const labels = [...seen.keys()].filter((one) => one.startsWith('label.')).map((one) => [one, ['a label of the request']])
    return [...Object.entries(names), ...labels]
      .filter(([one]) => one.startsWith(name) && !(minus && (one === 'since' || one === 'until')))
      .map(([one, [meaning]]) => ({text: `${minus}${one}:`, meaning, from, isName: true}))
  }
  const chosen = value.split(',')
  const begun = chosen.pop()
  const found = [...names[name]?.[1]?.split(' ') ?? seen.get(name) ?? []].map(quoted).filter((one) => one.startsWith(begun) && !chosen.includes(one))
  return found.length === 1 && found[0] === begun ? [] : found.map((text) => ({text, from: caret - begun.length}))
}

function valuesOf(items) {
  const seen = new Map()
  const add = (name, value) => { if (value) seen.set(name, (seen.get(name) ?? new Set()).add(value)) }
  live.fleet?.hubs?.forEach(({hub}) => add('hub', hub))
  for (const {result} of items) {
    for (const name of ['hub', 'hub_state', 'source', 'tenant']) add(name, result[name])
    for (const [key, value] of Object.entries(result.labels ?? {})) add(`label.${key}`, value)
  }
  return seen
}

/** The filter's line, with suggestions as a list below it (WAI-ARIA APG, "Combobox"). */
function combo(text, seen) {
  const list = el('ul', {class: 'options', role: 'listbox', id: 'filter-options', 'aria-label': 'Suggestions', hidden: true, onpointerdown: (event) => event.preventDefault()})
  const input = el('input', {
    name: 'filter', value: text, role: 'combobox', 'aria-label': 'Filter', 'aria-autocomplete': 'list', 'aria-expanded': 'false',
    'aria-controls': 'filter-options', autocomplete: 'off', spellcheck: 'false', placeholder: 'state:failed -hub:test since:1h',
    oninput: () => open(), onclick: () => open(), onblur: () => close(), onkeydown: press,
  })
  let options = [], at = -1

  const open = () => offer(suggest(input.value, input.selectionStart, seen()))
  const close = () => offer([])

  function offer(found) {
    options = found
    show(list, found.map((option, place) => el('li', {role: 'option', id: `filter-option-${place}`, onclick: () => take(option)},
      el('span', {class: 'mono clip'}, option.text), option.meaning && el('span', {class: 'small soft'}, option.meaning))))
    list.hidden = !found.length
    mark(input, 'aria-expanded', String(!list.hidden))
    choose(-1)
  }

  function choose(place) {
    at = place
    for (const [number, option] of [...list.children].entries()) mark(option, 'aria-selected', String(number === at))
    mark(input, 'aria-activedescendant', list.children[at]?.id)
    list.children[at]?.scrollIntoView({block: 'nearest'})
  }

  function take(option) {
    input.setRangeText(option.text, option.from, input.selectionStart ?? option.from, 'end')
    option.isName ? open() : close()
  }

  function press(event) {
    const {key} = event
    if (key === 'ArrowDown' && !options.length) open()
    if (!options.length) return
    if (key === 'ArrowDown') choose((at + 1) % options.length)
    else if (key === 'ArrowUp') choose(at > 0 ? at - 1 : options.length - 1)
    else if ((key === 'Enter' || key === 'Tab') && at >= 0) take(options[at])
    else if (key === 'Escape') close()
    else return
    event.preventDefault()
  }

  return {input, close, node: el('div', {class: 'combo'}, input, list)}
}

const columns = [
  {title: 'Finished', cell: ({result}) => time(result.at)},
  {title: 'Request', row: true, cell: ({id}) => el('a', {class: 'clip', href: link('requests', id)}, id)},
  {title: 'State', cell: ({state: word, result}) => el('span', {}, state(word, tone(word)),
    doubts([result], result).length > 0 && el('span', {class: 'soft small'}, ', perhaps twice'),
    result.kind === 'outcome' && el('span', {class: 'soft small'}, ` at the hub: ${result.hub_state ?? 'no word'}`))},
  {title: 'Error', cell: ({result}) => result.error?.code ?? ''},
  {title: 'Hub', cell: ({result}) => el('span', {class: 'clip'}, result.hub ?? '')},
  {title: 'Platforms', cell: ({result}) => [...new Set((result.sends ?? []).map((send) => send.platform))].join(', ')},
  {title: 'Attempts', number: true, cell: ({result}) => count(result.attempt_count)},
  {title: 'Took', number: true, cell: ({result}) => duration(result.timings?.total_ms)},
  {title: 'Replay', cell: ({result}) => (result.replay_safety ?? '').replaceAll('_', ' ')},
]

// How far a search went.
function extent({by, records, of, since, complete}) {
  const back = since ? `, back to ${clockText(since)}` : ''
  if (of === undefined) return `Searched ${by === 'index' ? 'the index' : 'Kafka'}${back}.`
  return by === 'index' ? `Searched the index of ${plural(of, 'result')}${back}.`
    : `Searched ${complete ? 'all' : `${count(records)} of`} ${plural(of, 'offset')} of the results in Kafka${back}, without an index.`
}

const chips = [['Failed', 'state:failed'], ['Expired', 'state:expired'], ['Last 15 min', 'since:15m'], ['Slow', 'took:>10s']]
const size = 50
const key = ({result}) => result.result_id

async function ask(asked, signal) {
  const page = await get(asked, signal)
  return {...page, items: page.items.map((item) => ({...item, result: asResult(item.result)}))}
}

function open(view) {
  if (!may('read')) {
    view.frame(null, notice('', 'Results are shown to keys with the scope read.'))
    return view.ready()
  }
  let filter = view.members.get('filter') ?? '', items = [], turn = 0, next, loaded
  const {input, node, close} = combo(filter, () => valuesOf(items))
  const wrong = el('div', {id: 'filter-problem', hidden: true})
  const rows = table('Requests', columns, {hidden: true, data: ({id}) => ({'data-row': id})})
  const far = el('p', {class: 'soft small', 'data-searched': true})
  const more = button('More', () => load(filter, next), {'data-action': 'more'})
  const rest = el('span', {hidden: true}, more)
  const as = el('div')
  const quick = chips.map(([text, wanted]) => button(text, () => flip(wanted), {'data-chip': wanted}))

  function flip(wanted) {
    const name = wanted.split(':')[0]
    const had = terms(input.value)
    const others = had.filter((one) => one.split(':')[0] !== name)
    input.value = (had.includes(wanted) ? others : [...others, wanted]).join(' ')
    search()
  }

  function search() {
    const asked = input.value.trim()
    close()
    view.remember({filter: asked})
    load(asked)
  }

  function complain(problem) {
    const isFault = problem?.status === 400
    mark(input, 'aria-invalid', isFault && 'true')
    mark(input, 'aria-describedby', isFault && 'filter-problem')
    wrong.hidden = !problem
    show(wrong, problem && problemNotice(problem))
  }

  async function load(asked, cursor) {
    const mine = ++turn
    try {
      const page = await ask(listing('v1/requests', {filter: asked, limit: size, cursor}), view.signal)
      if (mine === turn) take(asked, cursor, page)
    } catch (problem) {
      if (mine !== turn || view.signal.aborted || problem.status === 401) return
      if (!(problem instanceof Problem)) throw problem
      complain(problem)
    }
    if (mine === turn) view.ready()
  }

  function take(asked, cursor, page) {
    filter = asked
    next = page.next
    if (!cursor) loaded = new Date().toISOString()
    complain()
    items = cursor ? [...items, ...page.items] : page.items
    cursor ? rows.add(page.items) : rows.rows(items)
    if (cursor && !next) rows.body.children[items.length - page.items.length]?.querySelector('a')?.focus()
    rest.hidden = !next
    say(more, page.searched.complete ? 'More' : 'Search on')
    say(far, `${items.length ? `${plural(items.length, 'result')} shown${next ? '' : ', and no more'}` : next ? 'Nothing so far' : 'No result matches'}. ${extent(page.searched)}`)
    announce(far.textContent)
    quick.forEach((chip) => {
      const isOn = terms(filter).includes(chip.dataset.chip)
      mark(chip, 'aria-pressed', String(isOn))
      chip.className = isOn ? 'main' : ''
    })
    if (!cursor) show(as, asCommands([listing('v1/requests', {filter, limit: size})], [['pushfan results list', ...terms(filter).map(shell), '-n', size].join(' ')], as))
  }

  // Asks since the newest on screen, which costs little however much there is.
  const fresh = watchNew(view, async () => {
    const page = await ask(listing('v1/requests', {filter: `${filter} since:${items[0]?.result.at ?? loaded}`, limit: 100}), view.signal)
    return page.items.map(key)
  }, () => items.map(key), async () => {
    await load(filter)
    rows.body.querySelector('a')?.focus()
  })

  const replay = (chosen) => { if (may('replay')) go(link('replays', 'new', {filter: chosen === undefined ? filter : `request:${quoted(chosen)}`})) }
  view.keys.r = () => replay(document.activeElement?.closest?.('[data-row]')?.dataset.row)
  view.frame(el('div', {class: 'end row'}, needs('replay', button('Replay these…', () => replay(), {'data-action': 'replay'}))),
    el('form', {class: 'row', role: 'search', onsubmit: (event) => { event.preventDefault(); search() }}, node, el('button', {class: 'main'}, 'Search')),
    wrong, el('div', {class: 'row'}, el('div', {class: 'row', role: 'group', 'aria-label': 'Often asked'}, quick), fresh),
    el('section', {class: 'card'}, rows.node, el('div', {class: 'row'}, rest, far)), as)
  load(filter)
}

/** The screen of the list. */
export const requests = {name: 'requests', title: () => 'Requests', open}
