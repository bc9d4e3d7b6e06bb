// The frame of the page: the screens by the address, signing in, keys, and what is common to all screens.

import {Problem, call, session} from './api.js'
import {announce, button, count, duration, el, mark, say, show, state, untilText} from './kit.js'
import * as stream from './live.js'
import {go, link, memory, problemNotice} from './view.js'
import {failures} from './failures.js'
import {effect, holds, orderLeft, orderText, standing} from './holds.js'
import {overview} from './overview.js'
import {deadLetters, replay, replays, replayNew} from './replays.js'
import {request} from './request.js'
import {requests} from './requests.js'

// A screen is {name, title, open(view)}. The keys are those behind `g`.
const screens = [
  {key: 'o', path: 'overview', label: 'Overview', at: () => overview},
  {key: 'f', path: 'failures', label: 'Failures', at: () => failures},
  {key: 'q', path: 'requests', label: 'Requests', at: (id) => id ? request : requests},
  {key: 'r', path: 'replays', label: 'Replays', at: (id) => id === 'new' ? replayNew : id ? replay : replays},
  {key: 'h', path: 'holds', label: 'Holds', at: () => holds},
  {key: 'd', path: 'deadletters', label: 'Dead letters', at: () => deadLetters},
]

const main = document.getElementById('main')
let current = null
let leaving = null

/** The address as a screen, an id and its members. */
function place(hash = location.hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s)
  const cut = path.indexOf('/')
  const name = cut < 0 ? path : path.slice(0, cut)
  let id
  try { id = cut < 0 ? undefined : decodeURIComponent(path.slice(cut + 1)) } catch { id = path.slice(cut + 1) }
  return {screen: screens.find((screen) => screen.path === name) ?? screens[0], id: id || undefined, members: new URLSearchParams(query)}
}

function open() {
  if (!session.current) return signIn()
  leaving?.abort()
  leaving = new AbortController()
  for (const dialog of /** @type {NodeListOf<any>} */ (document.querySelectorAll('dialog[open]'))) dialog.close()
  const {screen, id, members} = place()
  const {signal} = leaving
  const view = screen.at(id)
  const title = view.title(id)
  document.title = `${title} · ${session.current.title ? `${session.current.title} · ` : ''}pushfan`
  for (const anchor of document.querySelectorAll('#nav a')) mark(anchor, 'aria-current', anchor.dataset.path === screen.path ? 'page' : null)
  main.dataset.screen = view.name
  delete main.dataset.ready
  current = {
    id, members, signal, keys: {},
    /** Shows the screen below its title; `end` stands beside that. */
    frame(end, ...parts) {
      if (!signal.aborted) show(main, el('div', {class: 'head'}, el('h1', {tabindex: '-1'}, title), end), parts)
    },
    /** Says that the data are on screen. */
    ready() {
      this.isShown = true
      if (signal.aborted || main.dataset.ready) return
      main.dataset.ready = 'true'
      performance.mark('ready')
    },
    /** Puts members into the address without a step back. */
    remember(members) { history.replaceState(null, '', link(screen.path, id, members)) },
    /** Runs a task, and shows its problem, which it returns, in its place. */
    async run(task, where) {
      try {
        await task()
        return null
      } catch (problem) {
        if (signal.aborted || problem.status === 401) return null
        if (!(problem instanceof Problem)) throw problem
        show(where, problemNotice(problem))
        if (!main.dataset.ready) main.dataset.ready = 'true'
        return problem
      }
    },
  }
  const isMoved = main.dataset.entered
  main.dataset.entered = 'true'
  view.open(current)
  if (isMoved) {
    scrollTo(0, 0)
    main.querySelector('h1')?.focus()
    announce(title, true)
  }
}

// Signing in.

async function begin() {
  try {
    session.current = (await call('GET', 'ui/session')).json ?? null
  } catch (problem) {
    session.current = null
    return show(main, el('h1', {}, 'pushfan'), problemNotice(problem), button('Try again', begin))
  }
  enter()
}

function enter() {
  frame()
  if (!session.current) return signIn()
  document.body.dataset.session = session.current.key
  if (session.current.scopes.includes('read')) stream.start()
  else stream.refuse('This key lacks the scope read.')
  open()
}

function signIn(problem) {
  main.dataset.screen = 'sign-in'
  document.title = 'Sign in · pushfan'
  // The name is for password managers.
  const name = el('input', {class: 'hidden', name: 'username', autocomplete: 'username', value: 'pushfan', tabindex: '-1', 'aria-hidden': 'true', readonly: true})
  const key = el('input', {name: 'key', type: 'password', autocomplete: 'current-password', required: true, spellcheck: 'false'})
  const submit = async (event) => {
    event.preventDefault()
    try {
      session.current = (await call('POST', 'ui/session', {body: {key: key.value.trim()}})).json
      enter()
    } catch (problem) {
      signIn(problem)
    }
  }
  show(main, el('form', {class: 'form card', onsubmit: submit},
    el('h1', {}, 'Sign in'),
    problem ? problemNotice(problem) : null,
    name, el('label', {class: 'field'}, 'Key of this gateway', key),
    el('p', {class: 'small soft'}, 'A key with the scopes read, read:payload, replay and operate sees, repairs and stops; one with read alone sees.'),
    el('details', {class: 'small'}, el('summary', {}, 'As pushfan'), el('code', {}, 'pushfan keys create --file FILE --scope read,read:payload,replay,operate')),
    el('div', {class: 'row'}, el('button', {class: 'main'}, 'Sign in'))))
  main.dataset.ready = 'true'
  key.focus()
}

session.onend = () => {
  if (!session.current) return
  leave()
  signIn(new Problem(401, {detail: 'The session is over. Sign in again: the page then shows what it showed.'}))
}

function leave() {
  session.current = null
  delete document.body.dataset.session
  leaving?.abort()
  stream.end()
  frame()
  showOrders()
}

async function signOut() {
  await call('DELETE', 'ui/session').catch(() => {})
  leave()
  signIn()
}

// The bar.

const age = el('span', {class: 'small soft number', 'data-age': true})
// A replay has a pause, which stops sending. This one holds what is on screen, and has other words and another sign.
const holdWords = (isPaused) => isPaused ? 'Let the figures go on' : 'Freeze the figures'
const pausing = button(holdWords(false), () => hold(!stream.live.isPaused), {'data-action': 'pause-view', 'aria-keyshortcuts': 'p', title: 'Holds what this page shows. Requests and replays go on.'})

function hold(isPaused) {
  stream.pause(isPaused)
  say(pausing, holdWords(isPaused))
  showAge()
  announce(isPaused ? 'The figures are frozen. Requests and replays go on.' : 'The figures move again.', true)
}

function frame() {
  show(document.getElementById('nav'), session.current ? el('ul', {}, screens.map((screen) =>
    el('li', {}, el('a', {href: link(screen.path), 'data-path': screen.path}, screen.label, el('span', {class: 'small number', 'data-menu': screen.path}))))) : null)
  const {title, key, source, comment} = session.current ?? {}
  show(document.getElementById('where'), title ? ` ${title}` : null)
  show(document.getElementById('tools'), session.current ? [age, pausing, el('span', {class: 'small soft clip', 'data-key': true}, [source?.includes(key ?? '') ? '' : `${source}, `, `key ${key}`, comment ? `, ${comment}` : ''].join(''))] : null, themePicker(), button('Shortcuts', help, {'aria-haspopup': 'dialog', 'aria-keyshortcuts': '?'}),
    session.current ? button('Sign out', signOut, {title: `Key ${session.current.key}: ${session.current.scopes.join(', ')}`}) : null)
}

// The numbers of open failures and of dead letters, behind the names of their screens.
function showCounts() {
  const {open_failures: failures, dead_letters: deadletters, dead_letters_at_most: isMost} = stream.live.fleet ?? {}
  for (const [path, number] of Object.entries({failures, deadletters})) {
    const node = document.querySelector(`#nav [data-menu=${path}]`)
    if (node) say(node, number ? ` ${isMost && path === 'deadletters' ? '≤ ' : ''}${count(number)}` : '')
  }
}

function themePicker() {
  const picked = memory.get('theme') ?? 'auto'
  return el('select', {'aria-label': 'Colours', onchange: (event) => { memory.set('theme', event.target.value); dress() }},
    [['auto', 'System colours'], ['light', 'Light'], ['dark', 'Dark']].map(([value, text]) => el('option', {value, selected: value === picked}, text)))
}

function dress() {
  const picked = memory.get('theme')
  if (picked === 'light' || picked === 'dark') document.documentElement.dataset.theme = picked
  else delete document.documentElement.dataset.theme
}

function showAge() {
  if (!session.current) return
  const {live} = stream
  const old = stream.age()
  const text = live.isPaused ? `figures frozen${old === null ? '' : `, ${duration(old)} old`}`
    : live.state === 'refused' ? 'no live data for this key'
    : live.state === 'cut' ? `cut off${old === null ? '' : `, ${duration(old)} old`}`
    : stream.isAway() ? `Kafka is away, ${duration(old)} old`
    : old === null ? 'connecting' : `${old > 3000 ? '' : 'live, '}${duration(Math.round(old / 100) * 100)} old`
  say(age, text)
  age.className = `small number ${live.state === 'cut' || (old ?? 0) > 10000 ? 'bad' : 'soft'}`
  mark(age, 'title', live.reason || null)
}

// What is held, on every screen. The time that is left is for the eye alone: the beginning and the end of an order are said.

const banner = document.getElementById('orders')
/** The most orders in it. */
const mostShown = 3
let shown = new Map()

function showOrders() {
  const orders = session.current ? standing() : [], {orders_omitted: omitted = 0, orders_problem: problem, orders: known} = stream.live.fleet ?? {}
  const more = Math.max(0, orders.length - mostShown) + omitted, unknown = !known && problem ? `It is not known what is held. ${problem}` : ''
  const now = new Map(orders.map((order) => [order.id, order]))
  const key = [...now.keys(), more, unknown].join()
  if (banner.dataset.key !== key) {
    banner.dataset.key = key
    const begun = orders.filter((order) => !shown.has(order.id)).map((order) => `${order.text}: ${orderText(order)}`)
    const ended = [...shown.values()].filter((order) => !omitted && !now.has(order.id)).map((order) => `${order.text}: no longer ${effect(order)}`)
    shown = now
    banner.hidden = !orders.length && !unknown
    show(banner, orders.slice(0, mostShown).map((order) => el('p', {'data-order': order.id}, state(order.kind === 'hold' ? 'Held:' : `${effect(order)}:`, 'warn'), ' ', el('bdi', {class: 'mono'}, order.text),
      ` until ${untilText(order.until)} (`, el('span', {class: 'number', 'data-ends': order.id}), ') – ', el('bdi', {}, order.reason))),
    unknown && el('p', {class: 'clip'}, state(unknown, 'warn')), banner.hidden ? null : el('p', {}, more > 0 && `and ${more} more: `, el('a', {href: link('holds')}, 'See all holds')))
    const said = [...begun, ...ended].join('. ')
    if (session.current && said) announce(said, true)
  }
  for (const node of banner.querySelectorAll('[data-ends]')) say(node, orderLeft(now.get(node.dataset.ends)))
}

function showBar() {
  showAge()
  showOrders()
  showCounts()
}

// Keys.

const shortcuts = [
  ['/', 'Filter'], ['j k', 'Next and previous row'], ['Enter', 'Open'], ['r', 'Replay what is chosen'],
  ['p', 'Freeze the figures on this page, and let them go on'], ['g o', 'Overview'], ['g f', 'Failures'], ['g q', 'Requests'], ['g r', 'Replays'], ['g h', 'Holds'], ['g d', 'Dead letters'],
  ['n', 'Show what is new'], ['?', 'This list'], ['Esc', 'Close'],
]

function help() {
  const dialog = document.getElementById('help')
  const off = el('input', {type: 'checkbox', name: 'single-keys', checked: memory.get('keys') !== 'off', onchange: (event) => memory.set('keys', event.target.checked ? 'on' : 'off')})
  show(dialog, el('div', {class: 'form'}, el('h2', {id: 'help-title'}, 'Keys'),
    el('table', {}, el('caption', {class: 'hidden'}, 'Keys'), el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Key'), el('th', {scope: 'col'}, 'Does'))),
      el('tbody', {}, shortcuts.map(([keys, does]) => el('tr', {}, el('th', {scope: 'row'}, keys.split(' ').map((key) => [el('kbd', {}, key), ' '])), el('td', {}, does))))),
    el('label', {class: 'check'}, off, 'Single keys work'),
    el('div', {class: 'row'}, button('Close', () => dialog.close()))))
  if (!dialog.open) dialog.showModal()
}

function step(by) {
  const rows = [...main.querySelectorAll('[data-row] a[href], [data-row] button')].filter((node, place, all) =>
    node.closest('[data-row]') !== all[place - 1]?.closest('[data-row]'))
  const row = document.activeElement?.closest?.('[data-row]')
  const at = rows.findIndex((node) => node.closest('[data-row]') === row)
  rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by))]?.focus()
}

let chord = -Infinity

addEventListener('keydown', (event) => {
  const {key, target} = event
  const isTyped = target instanceof HTMLElement && target.matches('input, textarea, select')
  if (key === 'Escape' && isTyped && !event.defaultPrevented) return target.blur()
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !session.current) return
  if (isTyped || document.querySelector('dialog[open]')) return
  if (memory.get('keys') === 'off') return
  const isChord = performance.now() - chord < 1500
  chord = -Infinity
  if (isChord) {
    const screen = screens.find((screen) => screen.key === key)
    if (screen) { event.preventDefault(); return go(link(screen.path)) }
  }
  const act = current?.keys[key] ?? {
    j: () => step(1), k: () => step(-1), p: () => hold(!stream.live.isPaused), '?': help, g: () => { chord = performance.now() },
    '/': () => main.querySelector('input[name=filter]')?.focus(), n: () => main.querySelector('[data-action=show-new]')?.click(),
    r: () => (document.activeElement?.closest?.('[data-row]') ?? main).querySelector('[data-action=replay]:not(:disabled)')?.click(),
  }[key]
  if (act) { event.preventDefault(); act() }
})

// The beginning.

dress()
document.getElementById('skip').addEventListener('click', () => main.focus())
addEventListener('hashchange', open)
setInterval(() => { if (!document.hidden) showBar() }, 500)
stream.follow(showBar, new AbortController().signal)
begin()
