// Requests by a line of words, and how far was searched.

import {Problem, asCommands, copied, get, may, listing} from './api.js'
import {announce, button, clockText, count, duration, el, mark, notice, plural, say, shell, show, state, table, time, tone, untilText} from './kit.js'
import {isAway, live} from './live.js'
import {asResult, doubts, go, link, needs, problemNotice, watchNew} from './view.js'

const errors = 'schema_invalid record_too_large unknown_hub not_configured expired_in_queue expired_on_hold duplicate ordering_key_full tag_expression_invalid tag_limit_exceeded '
  + 'payload_too_large payload_rejected hub_unauthorized hub_forbidden hub_not_found hub_quota hub_throttled hub_unavailable hub_timeout '
  + 'connect_failed tls_failed dns_failed response_invalid circuit_open cancelled worker_shutdown internal devices_refused nothing_counted '
  + 'no_target hub_abandoned hub_canceled hub_state_unknown telemetry_unfinished telemetry_missing telemetry_unanswered telemetry_unavailable'

// The names of filters: meanings, and values. Names without values take those on screen.
const names = {
  user: ['a user that it names'],
  device: ['a device or an installation that it names'],
  title: ['words of the title, or of the text'],
  to: ['to whom it went', 'users all tags expression installations devices'],
  state: ['where the request stands', 'failed partial rejected expired unknown sent cancelled duplicate waiting running delayed held published in_work in_parts dead_letter scheduled retrying'],
  since: ['from then on', 'today yesterday 5m 15m 1h 1d 7d'],
  until: ['before then', 'today yesterday 5m 15m 1h 1d 7d'],
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

const sought = 'a user, an id, a device, words of its title or text, 14:05, yesterday 9:00..9:30'
const term = /(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g
/** The terms of a filter. */
export const terms = (filter) => filter.match(term) ?? []

/** The terms of a filter as the last words of a command: none is read as an option. */
export const asWords = (filter) => {
  const words = terms(filter).map(shell)
  return words.length ? ['--', ...words] : []
}

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
  for (const row of items) {
    const known = {...row.result, ...row}
    for (const name of ['hub', 'hub_state', 'source', 'tenant']) add(name, known[name])
    for (const [key, value] of Object.entries(known.labels ?? {})) add(`label.${key}`, value)
    if (row.to?.kind === 'users') row.to.names?.forEach((name) => add('user', name))
  }
  return seen
}

/** The filter's line, with suggestions as a list below it (WAI-ARIA APG, "Combobox"). */
function combo(text, seen) {
  const list = el('ul', {class: 'options', role: 'listbox', id: 'filter-options', 'aria-label': 'Suggestions', hidden: true, onpointerdown: (event) => event.preventDefault()})
  const input = el('input', {
    name: 'filter', value: text, role: 'combobox', 'aria-label': 'Search', 'aria-describedby': 'filter-help', 'aria-autocomplete': 'list', 'aria-expanded': 'false',
    'aria-controls': 'filter-options', autocomplete: 'off', spellcheck: 'false', placeholder: sought,
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

// The zone in which times are read.
let own = Intl.DateTimeFormat().resolvedOptions().timeZone || offset()

// For a gateway that does not know the zone's name.
function offset() {
  const minutes = -new Date().getTimezoneOffset(), two = (number) => String(Math.floor(number)).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`
}

const isTimed = ({filter, from, to}) => Boolean(from || to) || /\d:\d\d|\d{4}-\d\d|\b(to|yester)day\b/i.test(filter)

/** A line that means the same without fields and in each zone. */
export const whole = ({filter, from, to}, {read_as: read}) => !isTimed({filter, from, to}) ? filter
  : read ?? [filter, from && `since:${quoted(from)}`, to && `until:${quoted(to)}`].filter(Boolean).join(' ')

/** A line as it was read, where that is not as it was typed. */
export const readText = ({filter, from, to}, {read_as: read}) => read && (from || to || read !== filter)
  ? `Read as ${read.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (one) => clockText(one))}` : ''

/** A line without the words that name somebody, of sends by tag or to all. */
export const broad = (line) => ['to:all,tags,expression', ...terms(line).filter((one) => {
  const name = one.match(/^-?([a-z_]+|label\.[^:]*):/)?.[1] ?? ''
  return (name.startsWith('label.') || Object.hasOwn(names, name)) && !['user', 'device', 'to'].includes(name)
})].join(' ')

const wheres = {published: 'waits to be read', in_work: 'a worker is at work on it', delayed: 'is due', held: 'waits behind another', in_parts: 'parts are on the way',
  done: 'no result is kept', dead_letter: 'was not understood'}

/** The place of a request without a result. */
export const whereText = ({state: word, due, parts}) => parts ? `${parts.count === undefined ? plural(parts.ended, 'part') : `${count(parts.ended)} of ${plural(parts.count, 'part')}`} ended`
  : Date.parse(due) > Date.now() ? `waits for ${untilText(due)}` : wheres[word] ?? ''

const cut = (text, most) => text.length > most ? `${[...text].slice(0, most - 1).join('')}…` : text
const begun = ({published_at: at, result}) => at ?? result?.timings?.published_at
const small = (...parts) => el('p', {class: 'small soft clip'}, parts.filter(Boolean).map((part, place) => [place ? ' · ' : '', el('bdi', {}, part)]))

function stateCell(row) {
  const {state: word, result} = row, hub = row.hub ?? result?.hub
  return [state(word.replaceAll('_', ' '), tone(word)), small(
    result ? doubts([result], result).length > 0 && 'perhaps twice' : whereText(row),
    result?.kind === 'outcome' && `at the hub: ${result.hub_state ?? 'no word'}`, result?.error?.code, hub && `hub ${hub}`, row.twin && `same title and user as one ${duration(row.twin)} away`)]
}

/** Marks the rows of one list that went to one user with one title within a minute: `twin` has the milliseconds between. */
export function markTwins(rows) {
  const last = new Map()
  for (const row of rows) {
    const at = Date.parse(begun(row)), key = row.to?.count === 1 && row.title && ['users', 'installations'].includes(row.to.kind) ? JSON.stringify([row.to.text, row.title.toLowerCase()]) : null
    if (!key || row.result?.replay) continue
    const other = last.get(key)
    if (other && Math.abs(other.at - at) <= 60000) row.twin = other.row.twin = Math.max(1, Math.abs(other.at - at))
    last.set(key, {at, row})
  }
}

function spanCell(row) {
  const {state: word, result} = row, from = begun(row), to = row.finished_at ?? result?.timings?.finished_at ?? result?.at
  const took = result?.timings?.total_ms ?? Date.parse(to) - Date.parse(from)
  return [time(from), ' → ', to ? time(to) : wheres[word] && word !== 'done' && word !== 'dead_letter' ? 'not yet' : '–', to && took >= 0 && el('span', {class: 'small soft'}, ` ${duration(took)}`)]
}

function labelCell({result, labels}) {
  const all = Object.entries(labels ?? result?.labels ?? {})
  return [all.slice(0, 3).map(([name, value]) => [el('bdi', {class: 'tag'}, cut(`${name}=${value}`, 40)), ' ']), all.length > 3 && `and ${all.length - 3} more`]
}

// An id in short. Its end is always seen: those of one sender begin alike.
function idCell({id}) {
  const letters = [...id], half = (...at) => el('span', {}, letters.slice(...at).join(''))
  const anchor = el('a', {class: 'id', href: link('requests', id), 'aria-label': id, title: id}, half(0, -6), half(-6))
  return el('span', {class: 'row'}, anchor, button('Copy', async () => announce(await copied(anchor), true), {class: 'bare', 'aria-label': `Copy ${id}`}))
}

const columns = () => [
  {title: 'To', cell: ({to}) => to && el('bdi', {class: 'clip'}, to.text)},
  ...may('read:payload') ? [{title: 'Title', cell: ({title}) => title && el('bdi', {class: 'clip'}, cut(title, 80))}] : [],
  {title: 'Labels', cell: labelCell},
  {title: 'State', cell: stateCell},
  {title: 'From → to', cell: spanCell},
  {title: 'Request id', row: true, cell: idCell},
]
const list = (caption, hidden) => table(caption, columns(), {hidden, data: ({id}) => ({'data-row': id})})

/** The extent of a search, in a sentence. */
export const extent = ({by, records, of, since, complete}) => `Searched ${since ? `back to ${untilText(since)}` : complete ? 'all that is kept' : 'a part'}, ${by === 'index' ? 'in the index'
  : `in Kafka, without an index${of === undefined ? '' : `: ${count(records)} of ${plural(of, 'record')}`}`}.`

const chips = [['Failed', 'state:failed'], ['Expired', 'state:expired'], ['Waiting', 'state:waiting'], ['Last 15 min', 'since:15m'], ['Slow', 'took:>10s']]
const size = 50
const canBeReplayed = ({state: word, result}) => result && result.kind !== 'interim' && word !== 'sent' && word !== 'duplicate'
const read = (items = []) => items.map((item) => ({...item, result: item.result && asResult(item.result)}))

async function ask(asked, signal) {
  const page = await get(asked, signal)
  return {...page, items: read(page.items), possible: read(page.possible?.items)}
}

function open(view) {
  if (!may('read')) {
    view.frame(null, notice('', 'Requests are shown to keys with the scope read.'))
    return view.ready()
  }
  let asked = {filter: view.members.get('filter') ?? '', from: view.members.get('from') ?? '', to: view.members.get('to') ?? ''}
  /** @type {any} */
  let searched = {}
  let zone = view.members.get('zone') || own, items = [], possible = [], turn = 0, next, loaded
  const {input, node, close} = combo(asked.filter, () => valuesOf(items))
  const [from, to] = ['from', 'to'].map((name) => el('input', {name, value: asked[name], size: 14, autocomplete: 'off', placeholder: 'any time'}))
  const wrong = el('div', {id: 'filter-problem', hidden: true}), zoned = el('span', {'data-zone': true}), understood = el('p', {class: 'small soft clip', 'data-read': true})
  const rows = list('Requests', true), broadRows = list('Sent by tag or to all in that time: may have reached this user, the hub knows who has the tag', false)
  const old = el('div', {'data-old': true}), far = el('p', {class: 'soft small', 'data-searched': true})
  const more = button('More', () => load(asked, next), {'data-action': 'more'})
  const rest = el('span', {hidden: true}, more), all = el('p'), as = el('div')
  const perhaps = el('section', {class: 'card', 'data-possible': true, hidden: true}, broadRows.node, all)
  const quick = chips.map(([text, wanted]) => button(text, () => flip(wanted), {'data-chip': wanted}))

  function flip(wanted) {
    const name = wanted.split(':')[0]
    const had = terms(input.value)
    const others = had.filter((one) => one.split(':')[0] !== name)
    input.value = (had.includes(wanted) ? others : [...others, wanted]).join(' ')
    search()
  }

  function search() {
    show(fresh)
    const wanted = {filter: input.value.trim(), from: from.value.trim(), to: to.value.trim()}
    close()
    view.remember({...wanted, zone: isTimed(wanted) ? zone : ''})
    load(wanted, undefined, true)
  }

  function complain(problem) {
    const faulty = problem?.status === 400 ? {from, to}[problem.message.split(':')[0]] ?? input : null
    for (const field of [input, from, to]) {
      mark(field, 'aria-invalid', field === faulty && 'true')
      mark(field, 'aria-describedby', [field === input && 'filter-help', field === faulty && 'filter-problem'].filter(Boolean).join(' ') || null)
    }
    wrong.hidden = !problem
    show(wrong, problem && problemNotice(problem))
  }

  const call = ({filter, from, to}, cursor, limit = size, times = '') => listing('v1/requests', {filter, from: from || undefined, to: to || undefined, zone, times: times || undefined, limit, cursor})

  async function load(wanted, cursor, isTyped) {
    const mine = ++turn, told = far.textContent
    say(far, 'Searching…')
    try {
      const page = await ask(call(wanted, cursor), view.signal)
      if (mine === turn) take(wanted, cursor, page, isTyped)
    } catch (problem) {
      if (mine !== turn || view.signal.aborted || problem.status === 401) return
      if (problem.status === 400 && /^zone\b/.test(problem.message) && zone !== offset()) {
        zone = own = offset()
        return load(wanted, cursor, isTyped)
      }
      if (!(problem instanceof Problem)) throw problem
      complain(problem)
      if (cursor) say(far, told)
      else fail(wanted)
    }
    if (mine === turn) view.ready()
  }

  // Rows of the same line stay, with their time. Those of another go.
  function fail(wanted) {
    const isSame = loaded && JSON.stringify(wanted) === JSON.stringify(asked)
    if (!isSame) {
      asked = wanted
      ;[items, possible, searched, next, loaded] = [[], [], {}, undefined, undefined]
      fill()
    }
    show(old, isSame ? notice('warn', el('p', {role: 'status'}, `The rows below are as of ${clockText(loaded)}: the search has failed since.`)) : null)
    say(far, isSame ? '' : 'Nothing is shown: the search failed.')
  }

  function fill(cursor) {
    if (!cursor) {
      rows.rows(items)
      broadRows.rows(possible)
      perhaps.hidden = !possible.length
      show(all, el('a', {href: link('requests', undefined, searched.read_as ? {filter: broad(searched.read_as)} : {...asked, filter: broad(asked.filter)})}, 'All sends by tag or to all in that time'))
      show(as, asCommands([call(asked)], [['pushfan results list -n', size, ...asWords(whole(asked, searched))].join(' ')], as))
    }
    rows.node.hidden = !items.length
    rest.hidden = !next
    mend.hidden = !items.some(canBeReplayed)
    say(zoned, `Times are ${zone}${zone === own ? '' : `, as the address says; those below are ${own}`}.`)
    say(understood, readText(asked, searched))
    quick.forEach((chip) => {
      const isOn = terms(asked.filter).includes(chip.dataset.chip)
      mark(chip, 'aria-pressed', String(isOn))
      chip.className = isOn ? 'main' : ''
    })
  }

  function take(wanted, cursor, page, isTyped) {
    asked = wanted
    next = page.next
    searched = {...cursor ? searched : {}, ...page.searched}
    if (!cursor) [loaded, possible] = [new Date().toISOString(), page.possible]
    complain()
    show(old)
    items = cursor ? [...items, ...page.items] : page.items
    markTwins(items)
    if (cursor) rows.add(page.items)
    fill(cursor)
    if (cursor && !next) rows.body.children[items.length - page.items.length]?.querySelector('a')?.focus()
    // Enter then opens what was pasted.
    if (isTyped && items.length === 1 && items[0].id === wanted.filter) rows.body.querySelector('a')?.focus()
    say(more, searched.complete === false ? 'Search on' : 'More')
    say(far, `${items.length ? `${plural(items.length, 'request')} shown${next ? '' : ', and no more'}` : next ? 'Nothing so far' : 'No request matches'}. ${extent(searched)}${isAway() ? ' Kafka is away: what is newer may be missing.' : ''}`)
    announce(far.textContent)
  }

  // A publication that gets its result is no new row.
  const isByResult = () => searched.order !== 'published'
  const moment = (row) => isByResult() ? row.result?.at : begun(row)
  const key = (row) => isByResult() ? row.result?.result_id : [row.id, row.topic, row.partition, row.offset].join()

  // Asks since the newest on screen, which costs little however much there is.
  const fresh = watchNew(view, async () => {
    // Nothing new comes into a time that is over.
    if (!loaded || Date.parse(searched.to) < Date.now()) return []
    const since = (items[0] && moment(items[0])) ?? loaded
    const page = await ask(call({...asked, filter: `${asked.filter} since:${since}`, from: ''}, undefined, 100, 'published'), view.signal)
    return page.items.map(key)
  }, () => items.map(key), async () => {
    await load(asked)
    rows.body.querySelector('a')?.focus()
  })

  const replay = (chosen) => {
    const isWanted = chosen === undefined ? items.some(canBeReplayed) : [...items, ...possible].some(({id, result}) => id === chosen && result)
    if (may('replay') && isWanted) go(link('replays', 'new', {filter: chosen === undefined ? whole(asked, searched) : `request:${quoted(chosen)}`}))
  }
  const mend = needs('replay', button('Replay these…', () => replay(), {'data-action': 'replay'}))
  mend.hidden = true
  view.keys.r = () => replay(document.activeElement?.closest?.('[data-row]')?.dataset.row)
  view.frame(el('div', {class: 'end row'}, mend),
    el('form', {class: 'row', role: 'search', onsubmit: (event) => { event.preventDefault(); search() }}, node,
      el('label', {class: 'row'}, 'From', from), el('label', {class: 'row'}, 'To', to), el('button', {class: 'main'}, 'Search')),
    el('p', {class: 'small soft', id: 'filter-help'}, `Finds ${sought}. user: device: title: to: label.NAME: state: hub: narrow it. `, zoned), understood,
    wrong, el('div', {class: 'row'}, el('div', {class: 'row', role: 'group', 'aria-label': 'Often asked'}, quick), fresh),
    el('section', {class: 'card'}, old, rows.node, el('div', {class: 'row'}, rest, far)), perhaps, as)
  fill()
  load(asked)
}

/** The screen of the list. */
export const requests = {name: 'requests', title: () => 'Requests', open}
