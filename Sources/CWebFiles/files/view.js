// What the screens have in common: addresses, problems, rights, and new rows that wait.

import {session} from './api.js'
import {announce, button, el, mark, notice, show} from './dom.js'
import {withCode} from './format.js'
import {isQuiet} from './live.js'

/** The address of a screen. */
export function link(path, id, members = {}) {
  const query = new URLSearchParams(Object.entries(members).filter(([, value]) => value !== undefined && value !== null && value !== ''))
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
  problem.code ? el('p', {class: 'small soft'}, `Code ${problem.code}; pushfan explain ${problem.code} says more.`) : null)

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

/** Asks for the number of new things every few seconds while somebody looks, and says it in a bar. The bar's button calls `reload`. */
export function watchCount(view, ask, reload) {
  const bar = el('div', {class: 'row'})
  const timer = setInterval(async () => {
    if (isQuiet()) return
    try {
      const {fresh, isMore} = await ask()
      if (view.signal.aborted) return
      const text = fresh > 0 ? `${fresh}${isMore ? ' or more' : ''} new` : ''
      if (bar.textContent === text) return
      show(bar, text ? button(text, () => { show(bar); reload() }, {'data-action': 'show-new', class: 'main'}) : null)
      if (text) announce(text)
    } catch { /* The next time says it again. */ }
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
