// Orders: holds and limits that stand, those that have ended, and the forms that give, release and count.

import {asCommands, call, get, may, segment} from './api.js'
import {button, count, el, notice, plural, shell, show, state, table, time, untilText} from './kit.js'
import {askOrders, follow, isQuiet, live, present} from './live.js'
import {counts, go, link, needs} from './view.js'

/** True while an order holds or limits. A cancellation is over at once, though it counts for days. */
const stands = (order) => order.kind !== 'cancel' && !order.released && Date.parse(order.until) > present()

/** The holds and limits that stand, as far as this key may know. */
export const standing = () => live.orders.filter(stands)

/** Those whose scope is this and nothing more, such as a hub as a whole. */
export const ordersOf = (name, value) => standing().filter(({scope}) => scope[name] === value && Object.keys(scope).length === 1)

/** The effect of an order, in words. */
export const effect = (order) => order.kind === 'limit' ? `at most ${plural(order.calls_per_second, 'call')} a second` : order.kind === 'hold' ? 'held' : 'cancelled'

/** An order as one sentence about what it concerns. */
export const orderText = (order) => `${effect(order)} until ${untilText(order.until)}: ${order.reason}`

/** The time until a moment, without what would change its width each second. */
export function leftText(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000)), minutes = Math.round(seconds / 60)
  return seconds < 120 ? `in ${seconds} s` : minutes < 120 ? `in ${minutes} min` : minutes < 2880 ? `in ${Math.round(minutes / 60)} h` : `in ${Math.round(minutes / 1440)} d`
}

/** The time until an order ends. */
export const orderLeft = (order) => leftText(Date.parse(order.until) - present())

/** A button that leads to the form of a hold. */
export const holdButton = (members, name) => needs('operate', button('Hold…', () => go(link('holds', undefined, members)), {'data-action': 'hold', 'aria-label': `Hold ${name}…`}))

const texts = ['hub', 'tenant', 'source', 'label', 'user', 'request']

/** The scope that a form names, as the API has it: everything, where nothing is named. */
/** @param {Record<string, string>} named */
export function scopeOf({label, ...named}) {
  const cut = label?.indexOf('=')
  const scope = {...named, labels: label && {[cut < 0 ? label : label.slice(0, cut)]: cut < 0 ? '' : label.slice(cut + 1)}}
  const found = Object.fromEntries(Object.entries(scope).filter(([, value]) => value))
  return Object.keys(found).length ? found : {everything: true}
}

const flags = (scope) => Object.entries(scope).flatMap(([name, value]) => name === 'everything' ? '--everything'
  : name === 'labels' ? Object.entries(value).map(([label, one]) => `--label ${shell(`${label}=${one}`)}`) : `--${name}${value.startsWith('-') ? '=' : ' '}${shell(value)}`).join(' ')

// What a cancellation would concern.

const words = {waiting: 'not read yet', running: 'being worked on', delayed: 'delayed, or held', sent: 'sent', other: 'ended otherwise'}
const notAll = 'Not all was read in the time there was, so there may be more.'
/** The call that counts what a scope has, and as a command. */
export const counting = (scope, reason) => ({method: 'POST', path: 'v1/requests:cancel', body: {scope, reason: reason || 'counted', dry_run: true}})
export const countCommand = (scope) => `pushfan cancel ${flags(scope)} --dry-run`
const tally = async (scope, reason, signal) => (await get(counting(scope, reason), signal)).counts

/** A dialog that cancels a request and its parts, with what it concerns before and after. `asked` gets the call, `then` is called at its end. */
export function cancelDialog(view, id, {asked, then}) {
  const scope = {request: id}, found = {}
  const reason = el('input', {name: 'reason', required: true, maxlength: 200, autocomplete: 'off'})
  const said = el('div'), more = el('div')
  const cell = (column) => ([word]) => el('span', {'data-count': `${column}-${word}`}, count(found[column]?.[word]))
  const list = table('What it concerns', [{title: 'It and its parts', row: true, cell: ([, text]) => text},
    {title: 'Before', number: true, cell: cell('before')}, {title: 'After', number: true, cell: cell('after')}], {cards: false})
  const take = (column, counts) => {
    found[column] = counts
    list.rows(Object.entries(words))
    show(more, Object.values(found).some((one) => one.complete === false) ? el('p', {class: 'soft small'}, notAll) : null)
  }
  const end = el('button', {class: 'main', 'data-action': 'cancel-now'}, 'Cancel what was not begun')
  const close = button('Close', () => dialog.close())
  const submit = async (event) => {
    event.preventDefault()
    if (end.disabled) return
    const body = {scope, reason: reason.value.trim(), dry_run: false}
    end.disabled = true
    close.focus()
    const problem = await view.run(async () => {
      const {json} = await call('POST', 'v1/requests:cancel', {body, signal: view.signal})
      if (!found.before) take('before', json.counts)
      asked({method: 'POST', path: 'v1/requests:cancel', body}, `pushfan cancel ${flags(scope)} --reason ${shell(body.reason)}`)
      show(said, el('p', {role: 'status'}, state('Cancelled. What was begun goes on.', 'good')))
    }, said)
    if (problem) end.disabled = false
    else await view.run(async () => {
      // Workers need a moment to end what waits.
      for (let turn = 0; turn < 5 && dialog.open && (!turn || found.after.waiting + found.after.delayed); turn++) {
        await new Promise((done) => setTimeout(done, 2000))
        take('after', await tally(scope, body.reason, view.signal))
      }
    }, more)
  }
  const dialog = el('dialog', {'aria-labelledby': 'cancel-title', onclose: () => { dialog.remove(); then() }}, el('form', {class: 'form', onsubmit: submit},
    el('h2', {id: 'cancel-title', class: 'clip'}, `Cancel ${id}`), list.node, more, el('label', {class: 'field'}, 'Reason', reason), said, el('div', {class: 'row'}, end, close)))
  list.rows(Object.entries(words))
  document.getElementById('main').append(dialog)
  dialog.showModal()
  view.run(async () => {
    const before = await tally(scope, '', view.signal)
    found.before ?? take('before', before)
  }, more)
}

// The screen.

const clip = (text) => el('span', {class: 'clip'}, text ?? '')
const columns = [
  {title: 'What', row: true, cell: (order) => el('span', {class: 'clip mono'}, order.text)},
  {title: 'Order', cell: effect},
  {title: 'Reason', cell: (order) => clip(order.reason)},
  {title: 'By', cell: (order) => clip(order.by)},
  {title: 'Since', cell: (order) => time(order.since)},
]
const past = [...columns, {title: 'Ended', cell: (order) => order.kind === 'cancel' ? '' : time(order.released?.at ?? order.until)},
  {title: 'How', cell: ({kind, released}) => released ? clip(['released by ', el('bdi', {}, released.by), released.reason && [': ', el('bdi', {}, released.reason)]]) : kind === 'cancel' ? 'at once' : 'by itself'}]
const path = 'v1/holds?history=true'
/** The most that have ended on screen. */
const most = 200
const spans = [['900', '15 min'], ['3600', '1 h'], ['14400', '4 h'], ['until', 'until…']]
const spanText = (seconds) => seconds % 3600 ? `${seconds / 60}m` : `${seconds / 3600}h`

function open(view) {
  if (!may('read') && !may('operate')) {
    view.frame(null, notice('', 'Holds are shown to keys with the scope read or operate.'))
    return view.ready()
  }
  const {members} = view
  const said = el('div', {class: 'row'}), faults = el('div', {class: 'row'}), made = el('div'), as = el('div')
  const heading = el('h2', {tabindex: '-1'}, 'What stands')
  const nothing = el('p', {hidden: true}, state('Nothing is held.', 'good'))
  const list = table('Orders that stand', [...columns, {title: 'Until', cell: (order) => time(order.until)}, {title: 'Ends', cell: orderLeft},
    {title: 'Act', cell: (order) => needs('operate', button('Release', () => release(order), {'data-action': 'release', 'aria-label': `Release ${order.text}`}))}],
  {hidden: true, data: (order) => ({'data-row': true, 'data-order': order.id})})
  const history = table('Ended, and cancellations', past, {data: (order) => ({'data-ended': order.id})})
  let orders = [], known

  function draw() {
    const now = orders.filter(stands)
    list.live(now, (order) => order.id)
    list.node.hidden = !now.length
    nothing.hidden = now.length > 0
  }

  const load = () => view.run(async () => {
    const found = await get(path, view.signal)
    if (view.signal.aborted) return
    orders = found.items
    draw()
    history.rows(orders.filter((order) => !stands(order)).slice(0, most))
    show(said)
    show(faults, found.faulty?.length ? notice('warn', `${plural(found.faulty.length, 'record')} of the control topic cannot be obeyed: ${found.faulty.slice(0, 5).map((one) => `offset ${one.offset}, ${one.fault}`).join('; ')}.`) : null)
    showCommands()
    view.ready()
  }, said)

  const changed = async () => { await Promise.all([load(), askOrders()]) }

  const release = (order) => view.run(async () => {
    await call('POST', `v1/holds/${segment(order.id)}:release`, {body: {}, signal: view.signal})
    await changed()
    ;(list.body.querySelector('button:enabled') ?? heading).focus()
  }, said)

  // The form. The address fills it, and has what is typed.

  const choice = (name, label, options, value) => el('label', {class: 'field'}, label, el('select', {name}, options.map(([one, text]) => el('option', {value: one, selected: one === value}, text))))
  const field = (name, label, properties = {}) => el('label', {class: 'field'}, label, el('input', {name, value: members.get(name) ?? '', autocomplete: 'off', spellcheck: 'false', ...properties}))
  const kind = choice('kind', 'Order', [['hold', 'Hold: nothing is begun'], ['limit', 'Limit: so many calls a second, of all workers together']], members.get('kind'))
  const number = field('number', 'Calls a second', {type: 'number', min: 1, max: 1000000, required: true})
  const span = choice('for', 'For', spans, members.get('for') ?? '3600')
  const until = field('until', 'Until, at most 7 days from now', {type: 'datetime-local', required: true})
  const everything = field('everything', 'Nothing is named, so everything is meant: type everything', {value: '', required: true, pattern: 'everything'})
  const give = el('button', {class: 'main', 'data-action': 'give'}, 'Hold')
  const form = el('form', {class: 'form', oninput: showCommands, onchange: showCommands, onsubmit: submit}, kind, number,
    el('div', {class: 'tiles'}, field('hub', 'Hub'), field('tenant', 'Tenant'), field('source', 'Source'), field('label', 'Label', {placeholder: 'campaign=sale', pattern: '[^=]+=.+'}), field('user', 'User'),
      field('request', 'Request, with its parts'), choice('lane', 'Lane', [['', 'any'], ...['high', 'normal', 'bulk', 'own'].map((one) => [one, one])], members.get('lane'))),
    el('p', {class: 'soft small'}, 'What has all that is named here is meant.'), everything,
    field('reason', 'Reason', {required: true, maxlength: 200}), span, until,
    el('div', {class: 'row'}, needs('operate', give), needs('operate', button('Count what it concerns', tell, {'data-action': 'count'}))), made)

  const input = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name))
  const value = (name) => input(name).value.trim()
  const scope = () => scopeOf(Object.fromEntries([...texts, 'lane'].map((name) => [name, value(name)])))
  const toggle = (label, isOn) => {
    label.hidden = !isOn
    label.querySelector('input').disabled = !isOn
  }

  /** @returns {any} */
  function order() {
    const end = new Date(value('until')), isLimit = value('kind') === 'limit'
    return {kind: value('kind'), ...isLimit ? {calls_per_second: Number(value('number'))} : {}, scope: scope(), reason: value('reason'),
      ...value('for') !== 'until' ? {for_seconds: Number(value('for'))} : Number.isNaN(end.getTime()) ? {} : {until: end.toISOString()}}
  }

  function showCommands() {
    const body = {...order(), reason: value('reason') || 'REASON'}
    toggle(number, body.kind === 'limit')
    toggle(until, value('for') === 'until')
    toggle(everything, 'everything' in body.scope)
    give.textContent = body.kind === 'limit' ? 'Limit' : 'Hold'
    view.remember(Object.fromEntries([...texts, 'lane', 'reason', ...body.kind === 'limit' ? ['kind', 'number'] : [], 'for', 'until'].map((name) => [name, name === 'for' && value('for') === '3600' ? '' : value(name)])))
    const one = orders.find(stands)
    const end = body.until ? `--until ${body.until}` : body.for_seconds ? `--for ${spanText(body.for_seconds)}` : ''
    show(as, asCommands([{path}, counting(scope(), value('reason')), {method: 'POST', path: 'v1/holds', body}, ...one ? [{method: 'POST', path: `v1/holds/${segment(one.id)}:release`, body: {}}] : []],
      ['pushfan holds --history', countCommand(body.scope), [`pushfan ${body.kind}`, body.calls_per_second, flags(body.scope), `--reason ${shell(body.reason)}`, end].filter(Boolean).join(' '),
        ...one ? [`pushfan release ${shell(one.id)}`] : []], as))
  }

  async function tell() {
    show(made, el('p', {role: 'status'}, 'Counting…'))
    await view.run(async () => {
      const found = await tally(scope(), value('reason'), view.signal)
      show(made, el('p', {role: 'status', 'data-counts': true}, `${counts({...found, complete: 0}, words) || 'No request is concerned'}.${found.complete === false ? ` ${notAll}` : ''}`))
    }, made)
  }

  let isGiving = false
  async function submit(event) {
    event.preventDefault()
    if (isGiving) return
    isGiving = true
    await view.run(async () => {
      const {json} = await call('POST', 'v1/holds', {body: order(), signal: view.signal})
      for (const name of ['reason', 'everything']) input(name).value = ''
      show(made, el('p', {role: 'status'}, state(`${json.text}: ${orderText(json)}`, 'good')))
      await changed()
    }, made)
    isGiving = false
  }

  // Orders of others come with the figures.
  const heed = () => {
    const ids = live.orders.map((order) => order.id).join()
    if (known !== undefined && ids !== known) load()
    known = ids
  }
  const timer = setInterval(() => { if (!isQuiet()) draw() }, 1000)
  view.signal.addEventListener('abort', () => clearInterval(timer))
  follow(heed, view.signal)
  view.frame(null, said, el('section', {class: 'card'}, heading, nothing, list.node, faults),
    el('section', {class: 'card'}, el('h2', {}, 'Hold…'), form), el('section', {class: 'card'}, history.node), as)
  showCommands()
  heed()
  load()
}

/** The screen of orders. */
export const holds = {name: 'holds', title: () => 'Holds', open}
