// Records that were not understood: their bytes, why, and how they are mended.

import {asCommands, call, get, may, target} from './api.js'
import {button, el, facts, notice, show, table} from './dom.js'
import {bytes, count, shell, time} from './format.js'
import {go, link, needs, problemNotice, watchNew} from './view.js'

const limit = 50

/** Bytes in rows of sixteen: offset, hexadecimal, and the letters of ASCII. */
export function hexRows(all, most = 1024) {
  const rows = []
  for (let at = 0; at < Math.min(all.length, most); at += 16) {
    const row = [...all.subarray(at, at + 16)]
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')
    rows.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${row.map((byte) => byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.').join('')}`)
  }
  if (all.length > most) rows.push(`… ${count(all.length - most)} bytes more`)
  return rows.join('\n')
}

const decoded = (letter) => letter.value_base64 !== undefined
  ? Uint8Array.from(atob(letter.value_base64), (character) => character.charCodeAt(0))
  : letter.value !== undefined ? new TextEncoder().encode(letter.value) : null

function open(view) {
  const chosen = view.members.get('at')
  const query = (cursor) => target('v1/deadletters', {since: view.members.get('since'), code: view.members.get('code'), payload: may('read:payload') ? 'true' : undefined, limit, cursor})
  const body = el('section', {class: 'card'}, el('p', {class: 'soft'}, 'Reading…'))
  const detail = el('div')
  const more = el('div')
  let letters = []
  const pick = (letter) => {
    view.members.set('at', letter.id)
    view.remember(Object.fromEntries(view.members))
    showOne(letter, true)
  }
  const list = table('Dead letters', [
    {title: 'When', cell: (letter) => time(letter.at)},
    {title: 'Record', row: true, cell: (letter) => button(letter.id, () => pick(letter), {class: 'bare mono clip'})},
    {title: 'From', cell: (letter) => letter.topic ?? '–'},
    {title: 'Why', cell: (letter) => [el('span', {class: 'tag'}, letter.code ?? 'unknown'), el('p', {class: 'small clip'}, letter.message ?? '')]},
    {title: 'Size', number: true, cell: (letter) => bytes(letter.bytes)},
    {title: 'Can go back', cell: (letter) => letter.can_go_back ? 'yes' : `no: ${letter.left ?? 'it is too large'}`},
  ], {hidden: true, data: (letter) => ({'data-row': true, 'data-letter': letter.id})})

  function showOne(letter, isAsked) {
    const all = decoded(letter)
    const text = letter.value ?? (all ? new TextDecoder().decode(all) : '')
    const value = el('textarea', {name: 'value', spellcheck: 'false', 'aria-label': 'The record, mended', rows: 10}, letter.value === undefined ? '' : pretty(letter.value))
    const reason = el('input', {name: 'reason', required: true, maxlength: 512, autocomplete: 'off'})
    const said = el('div')
    const commands = el('div')
    const order = () => ({source: 'deadletter', places: [letter.id], reason: reason.value.trim(), value: JSON.parse(value.value)})
    const make = async (event) => {
      event.preventDefault()
      let wanted
      try { wanted = order() } catch (error) {
        value.setAttribute('aria-invalid', 'true')
        return show(said, notice('bad', el('p', {role: 'alert'}, `This is no JSON yet: ${error.message}`)))
      }
      value.removeAttribute('aria-invalid')
      try {
        go(link('replays', (await call('POST', 'v1/replays', {body: wanted, signal: view.signal})).json.id))
      } catch (problem) { show(said, problemNotice(problem)) }
    }
    const title = el('h2', {tabindex: '-1', class: 'clip'}, `Record ${letter.id}`)
    show(detail, el('section', {class: 'card', 'data-detail': letter.id}, title,
      facts([['Dead since', time(letter.at)], ['Came from', letter.topic], ['Code', el('span', {class: 'tag'}, letter.code ?? 'unknown')], ['Why', letter.message], ['Size', bytes(letter.bytes)]]),
      all === null ? needs('read:payload', button('Show the record', () => {})) : [
        el('h3', {}, 'As text'), el('pre', {tabindex: '0', 'aria-label': 'The record as text', dir: 'ltr'}, text),
        el('details', {}, el('summary', {}, 'As bytes'), el('pre', {tabindex: '0', 'aria-label': 'The record as bytes', dir: 'ltr'}, hexRows(all)))],
      letter.can_go_back ? el('form', {class: 'form', onsubmit: make},
        el('h3', {}, 'Mend and publish again'),
        el('label', {class: 'field'}, 'What is published in its place', value),
        el('label', {class: 'field'}, 'Reason', reason),
        el('div', {class: 'row'}, needs('replay', el('button', {class: 'main', 'data-action': 'plan'}, 'Plan: nothing is sent yet')),
          needs('replay', button('As it is…', () => go(link('replays', 'new', {place: letter.id})), {'data-action': 'replay'}))), said) : null, commands,
      asCommands([{method: 'POST', path: 'v1/replays', body: {source: 'deadletter', places: [letter.id], reason: 'mended', value: {}}}],
        [`pushfan replay deadletter --at ${shell(letter.id)} --value mended.json --reason mended`])))
    if (isAsked) title.focus()
  }

  async function page(cursor) {
    const found = await get(query(cursor), view.signal)
    letters = [...(cursor ? letters : []), ...found.items]
    cursor ? list.add(found.items) : list.rows(found.items)
    show(body, letters.length ? [list.node, more] : el('p', {}, 'Every record was understood.'))
    show(more, found.next ? button('More', () => view.run(() => page(found.next), more)) : null)
    const one = letters.find((letter) => letter.id === chosen)
    if (one && !cursor) showOne(one)
    view.ready()
  }

  view.frame(null, el('p', {class: 'soft'}, 'Records that no worker could understand. They were never sent; mended, they are published as new requests.'),
    watchNew(view, async () => (await get(query(), view.signal)).items.map((letter) => letter.id), () => letters.map((letter) => letter.id), () => view.run(() => page(), body)),
    body, detail, asCommands([{path: query()}], ['pushfan replay deadletter --reason REASON --dry-run']))
  view.run(() => page(), body)
}

const pretty = (text) => { try { return JSON.stringify(JSON.parse(text), null, 2) } catch { return text } }

/** The screen. */
export const deadLetters = {name: 'deadletters', title: () => 'Dead letters', open}
