// Elements, and words and figures for them. Text from outside becomes text nodes and nothing else.

const SVG = 'http://www.w3.org/2000/svg'

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value)
    else if (name === 'value' && 'value' in node) node.value = value
    else if (name === 'checked' || name === 'selected' || name === 'open') node[name] = value
    else node.setAttribute(name, value === true ? '' : value)
  }
  append(node, children)
  return node
}

/** Appends text, nodes, and lists of them; passes over nothing, null and false. */
function append(node, children) {
  for (const child of children.flat(Infinity)) if (child !== undefined && child !== null && child !== false) node.append(child)
}

/**
 * An element. Properties that begin with `on` are listeners, all others attributes.
 * @type {Make}
 */
export const el = (tag, properties = {}, ...children) => fill(document.createElement(tag), properties, children)

/**
 * An element of a drawing.
 * @type {Draw}
 */
export const svg = (tag, properties = {}, ...children) => fill(document.createElementNS(SVG, tag), properties, children)

/** Gives an element other children. */
export function show(node, ...children) {
  node.replaceChildren()
  append(node, children)
  return node
}

/** Sets an element's text, where it is another. */
export function say(node, text) {
  if (node.textContent !== String(text)) node.textContent = text
}

/** Sets or removes an attribute, where it is another. */
export function mark(node, name, value) {
  if (value === undefined || value === null || value === false) node.removeAttribute(name)
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value)
}

/**
 * Keeps one child for each item: those that stay keep their element, and with it the focus.
 * `make(item)` returns an element, `update(element, item)` brings it up to date.
 */
function keep(parent, items, key, make, update) {
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]))
  let at = null
  for (const item of items) {
    const name = String(key(item))
    let child = known.get(name)
    known.delete(name)
    if (!child) {
      child = make(item)
      child.dataset.key = name
    }
    update(child, item)
    const next = at ? at.nextElementSibling : parent.firstElementChild
    if (next !== child) parent.insertBefore(child, next)
    at = child
  }
  for (const child of known.values()) child.remove()
}

/**
 * A table. A column is {title, cell(item), number, row, key}: `row` makes the row's header of it. Cells are text or nodes.
 * `rows` fills it, and returns nothing.
 */
export function table(caption, columns, {hidden = false, cards = true, data = (_) => ({})} = {}) {
  const body = el('tbody')
  const node = el('table', {class: cards ? 'cards' : undefined},
    el('caption', {class: hidden ? 'hidden' : undefined}, caption),
    el('thead', {}, el('tr', {}, columns.map((column) => el('th', {scope: 'col', class: column.number && 'number'}, column.title)))),
    body)
  const cell = (column, item) => el(column.row ? 'th' : 'td',
    {scope: column.row && 'row', class: column.number && 'number', 'data-label': column.title}, column.cell(item))
  const row = (item) => el('tr', data(item), columns.map((column) => cell(column, item)))
  return {
    node: el('div', {class: 'scroll'}, node),
    body,
    rows(items) { show(body, items.map(row)) },
    add(items) { append(body, items.map(row)) },
    /** Keeps rows by a key, and changes the cells that are made otherwise: a cell is text, or one element. */
    live(items, key) {
      keep(body, items, key, row, (tr, item) => columns.forEach((column, place) => {
        const made = column.cell(item)
        if (made instanceof Element) {
          // A link may lead elsewhere with the same words.
          if (!tr.children[place].firstChild?.isEqualNode(made)) show(tr.children[place], made)
        } else say(tr.children[place], made ?? '')
      }))
    },
  }
}

/** A word with a state, and the sign of that state. */
export const state = (word, tone) => el('span', {class: `state ${tone}`}, word)

/** A button. */
export const button = (text, onclick, properties = {}) => el('button', {type: 'button', onclick, ...properties}, text)

/** A button that copies a text. Without a clipboard it shows it for the keyboard. */
export const copier = (text, what = 'the id') => button('Copy', async (event) => {
  const {target} = event
  try { await navigator.clipboard.writeText(text) } catch { prompt(`Copy ${what}`, text) }
  say(target, 'Copied')
  announce('Copied', true)
  setTimeout(() => say(target, 'Copy'), 2000)
}, {class: 'bare small', 'aria-label': `Copy ${what}`, 'data-action': 'copy'})

/** A notice: a tone, a first line, and more. */
export const notice = (tone, ...children) => el('div', {class: `notice ${tone}`}, children.map((child) => child instanceof Node ? child : el('p', {}, child)))

/** A list of facts: pairs of a name and what there is to it. Pairs without a value are left out. */
export const facts = (pairs) => el('dl', {class: 'facts'}, pairs
  .filter(([, value]) => value !== undefined && value !== null && value !== '')
  .map(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]))

let said = 0
/** Says something to those who hear the page, at most once in 5 s unless it is urgent. */
export function announce(text, urgent = false) {
  const now = performance.now()
  if (!urgent && now - said < 5000) return
  said = now
  say(document.getElementById('said'), text)
}

// Words and figures, as a person reads them.

const whole = new Intl.NumberFormat('en')
const tenths = new Intl.NumberFormat('en', {minimumFractionDigits: 1, maximumFractionDigits: 1})

/** A number of things. */
export const count = (number) => number === undefined || number === null ? '–' : whole.format(number)

/** A number of things for each second. */
export const rate = (number) => number === undefined || number === null ? '–' : number >= 100 ? whole.format(Math.round(number)) : tenths.format(number)

/** One thing, or several: `plural(2, 'request')`. */
export const plural = (number, word) => `${count(number)} ${word}${number === 1 ? '' : 's'}`

/** A length of time in milliseconds. */
export function duration(ms) {
  if (ms === undefined || ms === null) return '–'
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 10) return `${tenths.format(seconds)} s`
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86400)} d`
}

/** A number of bytes. */
export const bytes = (number) => number === undefined || number === null ? '–'
  : number < 10000 ? `${count(number)} B` : `${tenths.format(number / 1000)} KB`

const clock = new Intl.DateTimeFormat(undefined, {hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23'})
const short = new Intl.DateTimeFormat(undefined, {hour: '2-digit', minute: '2-digit', hourCycle: 'h23'})
const day = new Intl.DateTimeFormat(undefined, {month: 'short', day: 'numeric'})

/** The time of a moment, with its day where that is not today. */
export function clockText(text, format = clock) {
  const moment = new Date(text)
  if (Number.isNaN(moment.getTime())) return String(text)
  const today = moment.toDateString() === new Date().toDateString()
  return today ? format.format(moment) : `${day.format(moment)} ${format.format(moment)}`
}

/** Hours and minutes of a moment, with its day where that is not today. */
export const untilText = (text) => clockText(text, short)

/** Hours and minutes of a moment. */
export const minuteText = (moment) => short.format(new Date(moment))

/** A moment in local time, in UTC for the mouse. */
export const time = (text) => text ? el('time', {datetime: text, title: `${text} (UTC)`}, clockText(text)) : '–'

/** A moment as so long ago. */
export const ago = (text) => text ? el('time', {datetime: text, title: `${text} (UTC)`}, `${duration(Math.max(0, Date.now() - Date.parse(text)))} ago`) : '–'

// The tones of words; all others are soft.
const tones = {
  sent: 'good', success: 'good', done: 'good', closed: 'good', running: 'good',
  partial: 'warn', expired: 'warn', ambiguous: 'warn', half_open: 'warn', paused: 'warn', interrupted: 'warn', retrying: 'warn', no_target: 'warn', revoking: 'warn', stopping: 'warn',
  failed: 'bad', rejected: 'bad', unknown: 'bad', open: 'bad', transient: 'bad', throttled: 'bad', permanent: 'bad', auth: 'bad', payload: 'bad', dead_letter: 'bad', Abandoned: 'bad', Unknown: 'bad',
}

/** The tone of a request's, a call's or a replay's state, of a circuit and of a worker's mode. */
export const tone = (word) => tones[word] ?? 'soft'

// What a terminal acts on while a line is pasted, or what turns the direction of writing. Within quotes the end of a line is text.
const controls = /[\0-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const escaped = (one) => one < '\x80' ? `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}` : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`

/** A word for the shell: as it is, within quotes, or with escapes (`$'…'`) where it has what a terminal would act on. */
export function shell(word) {
  const text = String(word)
  if (/^[A-Za-z0-9_.,:\/@%+=-]+$/.test(text)) return text
  const bare = text.replaceAll(controls, escaped)
  return bare === text ? `'${text.replaceAll("'", "'\\''")}'` : `$'${text.replace(/[\\']/g, '\\$&').replaceAll(controls, escaped)}'`
}

/** Text whose words between backticks are code. */
export const withCode = (text = '') => text.split('`').map((part, place) => place % 2 ? el('code', {}, part) : part)
