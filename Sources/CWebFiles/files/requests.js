// The results by a filter: the newest first, and how far was searched.

import {Problem, asCommands, get, may, target} from './api.js'
import {announce, button, el, mark, notice, say, show, state, table} from './dom.js'
import {clockText, count, duration, plural, shell, time, tone} from './format.js'
import {live} from './live.js'
import {go, link, needs, problemNotice, watchNew} from './view.js'

const words = (text) => text.split(' ')
const lengths = words('>1s >10s >1m')
const moments = words('5m 15m 1h 1d 7d')
const errors = 'schema_invalid record_too_large unknown_hub not_configured expired_in_queue duplicate tag_expression_invalid tag_limit_exceeded '
  + 'payload_too_large payload_rejected hub_unauthorized hub_forbidden hub_not_found hub_quota hub_throttled hub_unavailable hub_timeout '
  + 'connect_failed tls_failed dns_failed response_invalid circuit_open cancelled worker_shutdown internal devices_refused nothing_counted '
  + 'no_target hub_abandoned hub_canceled hub_state_unknown telemetry_unfinished telemetry_missing telemetry_unanswered telemetry_unavailable'

// The names of the filter language: the meaning, and values. Names without values take those of the rows on screen.
const names = {
  state: ['where the request stands', words('failed partial rejected expired unknown sent cancelled duplicate scheduled retrying')],
  since: ['when the result was written: so long ago, or later', moments],
  until: ['when the result was written: before that', moments],
  error: ['why it was no success', words(errors)],
  hub: ["the hub's name"],
  platform: ['a platform that was called', words('apple fcmv1 gcm windows adm baidu browser xiaomi template')],
  safety: ['whether it may be replayed', words('safe ambiguous duplicate_risk pointless')],
  took: ['from publishing to the result', lengths],
  request: ["the request's id"],
  outcome: ['the class of what became of it', words('success transient throttled permanent auth payload no_target expired cancelled duplicate ambiguous')],
  status: ['a status that the hub answered with', words('>=500 429 401 403 404')],
  attempts: ['attempts of the call that had most', words('0 >1 >2')],
  queued: ['from publishing to the worker', lengths],
  kind: ['what the result is', words('final outcome interim')],
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
  generation: ['of a replay: 1, or more for a replay of a replay', words('1 >1')],
}

const term = /(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g
const terms = (filter) => filter.match(term) ?? []

/** A value for a filter: as it is, or within quotes. */
export const quoted = (value) => /^[^\s,"*]+$/.test(value) ? value : `"${String(value).replace(/["\\]/g, '\\$&')}"`

/**
 * What may stand at the caret of a filter: {text, meaning, from, isName}. The text replaces all between `from` and the caret.
 * `seen` has the values of names, as lists.
 */
export function suggest(filter, caret, seen = {}) {
  const before = filter.slice(0, caret)
  const last = [...before.matchAll(term)].at(-1)
  const from = last && last.index + last[0].length === caret ? last.index : caret
  const [, minus, name, colon, value] = before.slice(from).match(/^(-?)([^:]*)(:?)(.*)$/s)
  if (!colon) {
    const labels = Object.keys(seen).filter((one) => one.startsWith('label.')).map((one) => [one, ['a label of the request']])
    return [...Object.entries(names), ...labels]
      .filter(([one]) => one.startsWith(name) && !(minus && (one === 'since' || one === 'until')))
      .map(([one, [meaning]]) => ({text: `${minus}${one}:`, meaning, from, isName: true}))
  }
  const chosen = value.split(',')
  const begun = chosen.pop()
  const values = names[name]?.[1] ?? seen[name] ?? []
  const found = values.map(quoted).filter((one) => one.startsWith(begun) && !chosen.includes(one))
  return found.length === 1 && found[0] === begun ? [] : found.map((text) => ({text, from: caret - begun.length}))
}

function valuesOf(items) {
  const seen = {}
  const add = (name, value) => { if (value !== undefined && value !== '') (seen[name] ??= new Set()).add(String(value)) }
  for (const {hub} of live.fleet?.hubs ?? []) add('hub', hub)
  for (const {id} of live.fleet?.workers ?? []) add('worker', id)
  for (const {result} of items) {
    for (const name of ['hub', 'hub_state', 'source', 'tenant']) add(name, result[name])
    add('worker', result.worker?.id)
    add('topic', result.origin?.topic)
    add('job', result.replay?.job_id)
    add('actor', result.replay?.actor)
    for (const [key, value] of Object.entries(result.labels ?? {})) add(`label.${key}`, value)
  }
  return Object.fromEntries(Object.entries(seen).map(([name, values]) => [name, [...values].sort().slice(0, 50)]))
}

/** The filter's line, with suggestions as a list below it (WAI-ARIA APG, "Combobox"). */
function combo(text, seen) {
  const list = el('ul', {class: 'options', role: 'listbox', id: 'filter-options', 'aria-label': 'Suggestions', hidden: true, onpointerdown: (event) => event.preventDefault()})
  const input = el('input', {
    name: 'filter', type: 'text', value: text, role: 'combobox', 'aria-label': 'Filter', 'aria-autocomplete': 'list', 'aria-expanded': 'false',
    'aria-controls': 'filter-options', autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', placeholder: 'state:failed hub:shop -error:hub_* since:1h',
    oninput: open, onclick: open, onblur: close, onkeydown: press,
  })
  let options = [], at = -1

  function close() {
    options = []
    list.hidden = true
    mark(input, 'aria-expanded', 'false')
    choose(-1)
  }

  function open() {
    options = suggest(input.value, input.selectionStart, seen())
    if (!options.length) return close()
    show(list, options.map((option, place) => el('li', {role: 'option', id: `filter-option-${place}`, 'aria-selected': 'false', onclick: () => take(option)},
      el('span', {class: 'mono clip'}, option.text), option.meaning ? el('span', {class: 'small soft'}, option.meaning) : null)))
    list.hidden = false
    mark(input, 'aria-expanded', 'true')
    choose(-1)
  }

  function choose(place) {
    mark(list.children[at], 'aria-selected', 'false')
    at = place
    mark(list.children[at], 'aria-selected', 'true')
    mark(input, 'aria-activedescendant', at < 0 ? null : `filter-option-${at}`)
    list.children[at]?.scrollIntoView({block: 'nearest'})
  }

  function take(option) {
    const rest = input.value.slice(input.selectionStart)
    input.value = input.value.slice(0, option.from) + option.text + rest
    const caret = option.from + option.text.length
    input.setSelectionRange(caret, caret)
    option.isName ? open() : close()
  }

  function press(event) {
    const {key} = event
    if (event.isComposing) return
    if ((key === 'ArrowDown' || key === 'ArrowUp') && !options.length) open()
    if (!options.length) return
    if (key === 'ArrowDown') choose(at + 1 < options.length ? at + 1 : 0)
    else if (key === 'ArrowUp') choose(at > 0 ? at - 1 : options.length - 1)
    else if ((key === 'Enter' || key === 'Tab') && at >= 0) take(options[at])
    else if (key === 'Escape') close()
    else return
    event.preventDefault()
  }

  return {input, close, node: el('div', {class: 'combo'}, input, list)}
}

const stateOf = ({state: word, result}) => [state(word, tone(result.hub_state) === 'bad' ? 'bad' : tone(word)),
  result.kind === 'outcome' ? el('span', {class: 'soft small'}, ` at the hub${result.hub_state ? `: ${result.hub_state}` : ''}`) : null]

const columns = [
  {title: 'Finished', cell: ({result}) => time(result.at)},
  {title: 'Request', row: true, cell: ({id}) => el('a', {class: 'clip', href: link('requests', id)}, id)},
  {title: 'State', cell: (item) => el('span', {}, stateOf(item))},
  {title: 'Error', cell: ({result}) => result.error?.code ?? ''},
  {title: 'Hub', cell: ({result}) => el('span', {class: 'clip'}, result.hub ?? '')},
  {title: 'Platforms', cell: ({result}) => [...new Set((result.sends ?? []).map((send) => send.platform))].join(', ')},
  {title: 'Attempts', number: true, cell: ({result}) => count(result.attempt_count)},
  {title: 'Took', number: true, cell: ({result}) => duration(result.timings?.total_ms)},
  {title: 'Replay', cell: ({result}) => (result.replay_safety ?? '').replaceAll('_', ' ')},
]

/** How far a search went, in words. */
export function extent({by, records, of, since, complete}) {
  const back = since ? `, back to ${clockText(since)}` : ''
  if (by === 'index') return `Searched the index of ${plural(of, 'result')}${back}.`
  return complete ? `Searched ${plural(of, 'offset')} of the results in Kafka${back}; this gateway has no index at hand.`
    : `Searched ${count(records)} of ${plural(of, 'offset')} of the results in Kafka${back}; “Search on” goes further.`
}

const chips = [['Failed', 'state:failed'], ['Expired', 'state:expired'], ['Last 15 min', 'since:15m'], ['Slow', 'took:>10s']]
const size = 50

function open(view) {
  if (!may('read')) {
    view.frame(null, notice('', 'Results are shown to keys with the scope read.'))
    return view.ready()
  }
  let filter = view.members.get('filter') ?? '', items = [], next, turn = 0, loaded = new Date()
  const line = combo(filter, () => valuesOf(items))
  const {input} = line
  const wrong = el('div', {id: 'filter-problem'})
  const rows = table('Requests', columns, {hidden: true, data: ({id}) => ({'data-row': id})})
  const none = el('p', {hidden: true}, 'No result matches this filter.')
  const far = el('p', {class: 'soft small', 'data-searched': true})
  const more = button('More', () => load(filter, next), {'data-action': 'more', hidden: true})
  const as = el('div')
  const replay = needs('replay', button('Replay these…', () => go(link('replays', 'new', {filter})), {'data-action': 'replay', title: 'r'}))
  const quick = chips.map(([text, wanted]) => button(text, () => flip(wanted), {'data-chip': wanted}))

  function flip(wanted) {
    const name = wanted.split(':')[0]
    const had = terms(input.value)
    const rest = had.filter((one) => one.split(':')[0] !== name)
    input.value = (had.includes(wanted) ? rest : [...rest, wanted]).join(' ')
    search()
  }

  function search() {
    line.close()
    view.remember({filter: input.value.trim()})
    return load(input.value.trim())
  }

  async function load(asked, cursor) {
    const mine = ++turn
    mark(rows.node, 'aria-busy', true)
    try {
      const page = await get(target('v1/requests', {filter: asked, limit: size, cursor}), view.signal)
      if (mine === turn) take(asked, cursor, page)
    } catch (problem) {
      if (mine !== turn || view.signal.aborted || problem.status === 401) return
      if (!(problem instanceof Problem)) throw problem
      const isFault = problem.status === 400 && !cursor
      mark(input, 'aria-invalid', isFault && 'true')
      mark(input, 'aria-describedby', isFault && 'filter-problem')
      show(wrong, problemNotice(problem))
    }
    if (mine !== turn) return
    mark(rows.node, 'aria-busy', null)
    view.ready()
  }

  function take(asked, cursor, page) {
    filter = asked
    next = page.next
    if (!cursor) loaded = new Date()
    show(wrong)
    mark(input, 'aria-invalid', null)
    mark(input, 'aria-describedby', null)
    items = cursor ? [...items, ...page.items] : page.items
    cursor ? rows.add(page.items) : rows.rows(items)
    rows.node.hidden = !items.length
    none.hidden = items.length > 0 || Boolean(next)
    if (cursor && !next) rows.body.children[items.length - page.items.length]?.querySelector('a')?.focus()
    more.hidden = !next
    say(more, page.searched.complete ? 'More' : 'Search on')
    say(far, `${items.length ? `${plural(items.length, 'result')} shown${next ? '' : ', and no more'}. ` : ''}${extent(page.searched)}`)
    announce(far.textContent)
    quick.forEach((chip) => {
      const isOn = terms(filter).includes(chip.dataset.chip)
      mark(chip, 'aria-pressed', isOn)
      chip.className = isOn ? 'main' : ''
    })
    const isOpen = as.firstElementChild?.open
    show(as, asCommands([{path: target('v1/requests', {filter, limit: size})}], [['pushfan results list', ...terms(filter).map(shell), '-n', size].join(' ')]))
    as.firstElementChild.open = isOpen ?? false
  }

  // Asks for what was written since the newest on screen, which is little however much there is.
  const fresh = watchNew(view, async () => {
    const since = items[0]?.result.at ?? loaded.toISOString()
    const page = await get(target('v1/requests', {filter: `${filter} since:${since}`, limit: 100}), view.signal)
    return page.items.map((item) => item.result.result_id)
  }, () => items.map((item) => item.result.result_id), async () => {
    await load(filter)
    rows.body.querySelector('a')?.focus()
  })

  view.keys.r = () => {
    const id = document.activeElement?.closest?.('[data-row]')?.dataset.row
    if (id === undefined) document.querySelector('main [data-action=replay]:not(:disabled)')?.click()
    else if (may('replay')) go(link('replays', 'new', {filter: `request:${quoted(id)}`}))
  }
  view.frame(el('div', {class: 'end row'}, replay),
    el('form', {class: 'row', role: 'search', onsubmit: (event) => { event.preventDefault(); search() }}, line.node, el('button', {class: 'main'}, 'Search')),
    wrong, el('div', {class: 'row', role: 'group', 'aria-label': 'Often asked'}, quick), fresh,
    el('section', {class: 'card'}, rows.node, none, el('div', {class: 'row'}, more, far)), as)
  load(filter)
}

/** The screen of the list. */
export const requests = {name: 'requests', title: () => 'Requests', open}
