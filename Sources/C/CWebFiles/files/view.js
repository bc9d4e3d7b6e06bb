// What the screens have in common: addresses, problems, rights, and new rows that wait.

import {session} from './api.js'
import {announce, button, count, el, mark, notice, say, show, withCode} from './kit.js'
import {isQuiet} from './live.js'

/** The address of a screen. */
export function link(path, id, members = {}) {
  const query = new URLSearchParams((Array.isArray(members) ? members : Object.entries(members)).filter(([, value]) => value !== undefined && value !== null && value !== ''))
  return `#/${path}${id === undefined ? '' : `/${encodeURIComponent(id)}`}${query.size ? `?${query}` : ''}`
}

/** Goes to an address. */
export function go(hash) {
  if (location.hash === hash) dispatchEvent(new HashChangeEvent('hashchange'))
  else location.hash = hash
}

/** A problem as a notice, with its faults. */
export const problemNotice = (problem) => notice('bad', el('p', {role: 'alert'}, withCode(problem.message)),
  (problem.errors ?? []).map((fault) => el('p', {class: 'small'}, withCode(`${fault.pointer ?? ''} ${fault.detail ?? fault.message ?? ''}`))),
  problem.code ? el('p', {class: 'small soft'}, `Code ${problem.code}.`) : null)

/** A control that needs a scope: without it, it is off and says so. */
export function needs(scope, control) {
  if (session.current?.scopes.includes(scope)) return control
  const id = `needs-${scope.replace(':', '-')}-${Math.random().toString(36).slice(2, 8)}`
  control.disabled = true
  mark(control, 'aria-describedby', id)
  return el('span', {class: 'row'}, control, el('span', {class: 'small soft', id}, `needs a key with the scope ${scope}`))
}

/** What this browser remembers for the page. */
export const memory = {
  get(name) { try { return localStorage.getItem(`pushfan.${name}`) } catch { return null } },
  set(name, value) { try { localStorage.setItem(`pushfan.${name}`, value) } catch { /* Private windows forget. */ } },
}

/**
 * Asks for the number of new things every few seconds while somebody looks, and says it in a bar. The bar's button calls `reload`, and the
 * focus goes to the first row. Nothing is asked before the screen has its rows, and nothing again after a refusal.
 */
export function watchCount(view, ask, reload) {
  const bar = el('div', {class: 'row'})
  const more = button('', async () => {
    show(bar)
    await reload()
    document.querySelector('main [data-row] a, main [data-row] button')?.focus()
  }, {'data-action': 'show-new', class: 'main'})
  let isAsking = false
  const timer = setInterval(async () => {
    if (isQuiet() || isAsking || !view.isShown) return
    isAsking = true
    try {
      const {fresh, isMore} = await ask()
      if (view.signal.aborted) return
      const text = fresh > 0 ? `${fresh}${isMore ? ' or more' : ''} new` : ''
      if (text && text !== more.textContent) announce(text)
      say(more, text)
      if (Boolean(text) !== more.isConnected) show(bar, text ? more : null)
    } catch (problem) {
      // Another time may say it. A refusal stays one.
      if (problem.status >= 400 && problem.status < 500) clearInterval(timer)
    }
    isAsking = false
  }, 5000)
  view.signal.addEventListener('abort', () => clearInterval(timer))
  return bar
}

/** The same for a list: `ask` returns the keys of the newest, and `known` those on screen. */
export function watchNew(view, ask, known, reload) {
  return watchCount(view, async () => {
    const keys = await ask()
    const shown = new Set(known())
    const fresh = keys.filter((key) => !shown.has(key)).length
    return {fresh, isMore: fresh > 1 && fresh === keys.length}
  }, reload)
}

/** A list that goes on: `ask(cursor)` returns its pages, and `place` shows them in the table `list`, or `empty` where there are none. */
export function pager(view, {ask, list, place, empty, then = () => {}}) {
  const more = el('div')
  /** @type {Pages} */
  const pages = {items: [], load: (cursor) => view.run(() => page(cursor), cursor ? more : place)}
  let asked
  async function page(cursor) {
    // A second press meanwhile asks for nothing, and a page of before a reload is not shown.
    if (cursor && asked?.cursor === cursor) return
    const mine = asked = {cursor}
    let found
    try {
      found = await ask(cursor)
      if (view.signal.aborted || asked !== mine) return
    } finally {
      if (asked === mine) asked = undefined
    }
    const first = cursor ? pages.items.length : 0
    pages.items = [...cursor ? pages.items : [], ...found.items]
    if (cursor) list.add(found.items)
    else list.rows(found.items)
    show(place, pages.items.length || found.next ? [list.node, more] : empty)
    show(more, found.next ? button(pages.items.length ? 'More' : 'Nothing so far: search on', () => pages.load(found.next)) : null)
    if (cursor) list.body.children[first]?.querySelector('a, button')?.focus()
    view.ready()
    then()
  }
  return pages
}

// The members of results that the page reads, each with what it is by the contract; `*` is any other one.
const S = 'string', N = 'number', B = 'boolean'
const form = {
  '*': S, attempt_count: N, labels: {'*': S}, worker: {id: S}, targets: {'*': N}, origin: {'*': S, partition: N},
  error: {'*': S, http_status: N, faults: [{'*': S}]}, timings: {'*': S, queue_ms: N, hub_ms: N, throttle_wait_ms: N, total_ms: N},
  sends: [{'*': S, index: N, payload_bytes: N, pns_outcomes: {'*': N}}],
  attempts: [{'*': S, n: N, send: N, http_status: N, duration_ms: N, backoff_ms: N, bytes_sent: B}],
  parent: {'*': S, chunk: N, chunks: N}, parts: {'*': N}, replay: {'*': S, generation: N, sends: [N], modified: [S]},
}

function formed(value, form) {
  if (typeof form === 'string') return typeof value === form && (form !== N || Number.isFinite(value)) ? value : undefined
  if (Array.isArray(form)) return Array.isArray(value) ? value.map((one) => formed(one, form[0])).filter((one) => one !== undefined) : undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, formed(one, (Object.hasOwn(form, name) ? form[name] : form['*']) ?? '')])
    .filter(([, one]) => one !== undefined))
}

/** A result without what the contract does not have in its place: anything may stand in a topic. What each one has is a word in any case. */
export function asResult(value) {
  const result = {kind: 'unknown', state: 'unknown', outcome: 'unknown', ...formed(value, form)}
  result.sends?.forEach((send) => send.outcome ??= 'unknown')
  return result
}

/** Counts with their words: `{sent: 3}` as "3 sent". */
export const counts = (numbers, words = {}) => Object.entries(numbers ?? {}).filter(([, number]) => number)
  .map(([word, number]) => `${count(number)} ${words[word] ?? word.replaceAll('_', ' ')}`).join(', ')

// A call without an answer of the hub may have reached devices, and an attempt after it reaches them again.
const unanswered = [499, 520, 522, 524]
const isUnanswered = ({http_status: status}) => !status || status < 300 || unanswered.includes(status)
const isLost = (one, place, all) => one.bytes_sent && one.result !== 'ok' && isUnanswered(one) && all.slice(place + 1).some((other) => other.send === one.send && other.bytes_sent)
const reaches = (one) => one.targets?.accepted > 0 || one.targets?.ambiguous > 0
// A replay repeats all calls, or those that it names.
const repeatsDoubt = (own) => ({replay, ...result}) => reaches(result) && (own.sends?.length
  ? own.sends.some(({outcome, index}) => outcome === 'ambiguous' && (replay?.sends ?? [index]).includes(index)) : own.outcome === 'ambiguous')

/** Why devices may have rung twice, in sentences: by the results of a request, the one that counts, and those of its replays. */
export function doubts(results, own, replays = []) {
  const finals = results.filter((result) => result.kind === 'final' && reaches(result))
  const kinds = new Set(finals.map((result) => result.result_id)).size
  return [
    kinds > 1 && `its id was published and sent ${count(kinds)} times`,
    finals.length > kinds && 'it has a result more than once, so its calls may have been made again',
    own?.attempts?.some(isLost) && 'an attempt had no answer, and the call was made again',
    own && replays.some(repeatsDoubt(own)) && 'a replay repeated a call of which it is unknown whether it arrived',
  ].filter(Boolean)
}
