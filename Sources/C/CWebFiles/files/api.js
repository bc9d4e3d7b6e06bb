// Calls of the API, and how a person makes the same ones in a shell.

import {button, el, shell} from './kit.js'

const root = new URL('../', import.meta.url)

/** The address of a path of the API. */
export const address = (path) => new URL(path, root)

/** An answer that says why not (RFC 9457), or that there was none. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? (status ? `The gateway answered ${status}.` : 'The gateway does not answer.'))
    Object.assign(this, {status, code: body?.code, errors: body?.errors ?? []})
  }
}

/**
 * The session, and what is called with each 401: then it is over.
 * @type {Sessions}
 */
export const session = {current: null, onend() {}}

/** True if the key of this session may do something. */
export const may = (scope) => session.current?.scopes.includes(scope) ?? false

/**
 * Calls the API, with an object or the text of one as body. Returns the answer's JSON, its text and its `ETag`; anything but success throws a `Problem`.
 * @type {Caller}
 */
export async function call(method, path, {body, headers = {}, signal} = {}) {
  let answer
  try {
    answer = await fetch(address(path), {
      method, signal, credentials: 'same-origin', cache: 'no-store',
      headers: body === undefined ? headers : {'Content-Type': 'application/json', ...headers},
      body: body === undefined ? undefined : jsonText(body),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new Problem(0)
  }
  const text = await answer.text()
  let json
  try { json = text ? JSON.parse(text) : undefined } catch { json = undefined }
  if (!answer.ok) {
    if (answer.status === 401 && path !== 'ui/session') session.onend()
    throw new Problem(answer.status, json)
  }
  return {json, text, etag: answer.headers.get('ETag')}
}

const jsonText = (body) => typeof body === 'string' ? body : JSON.stringify(body)

/** The JSON of a GET, or of a `listing`. */
export const get = async (asked, signal) => {
  const {method = 'GET', path = asked, body} = asked
  return (await call(method, path, {body, signal})).json
}

/** An id in a path. A tilde stands before `.` and `..`, which browsers drop. */
export const segment = (id) => `${/^(\.\.?$|~)/.test(id) ? '~' : ''}${encodeURIComponent(id)}`

/** A path with a query; members without a value are left out. */
export function target(path, members) {
  const query = new URLSearchParams(Object.entries(members).filter(([, value]) => value !== undefined && value !== null && value !== ''))
  return query.size ? `${path}?${query}` : path
}

/** The call of a list, as `get` and `asCommands` take it. Members too long for an address go into a body. */
export function listing(path, members) {
  const asked = target(path, members)
  return asked.length <= 4000 ? {path: asked} : {method: 'POST', path: `${path}:search`, body: members}
}

/** A call as a line for the shell. */
function curl({method = 'GET', path, body, headers, isStream}) {
  const parts = [`curl -${isStream ? 'N' : ''}sS -H "Authorization: Bearer $KEY"`]
  for (const [name, value] of Object.entries(headers ?? {})) parts.push(`-H ${shell(`${name}: ${value}`)}`)
  if (body !== undefined) parts.push(`--json ${shell(jsonText(body))}`)
  else if (method !== 'GET') parts.push(`-X ${method}`)
  return [...parts, shell(String(address(path)))].join(' ')
}

/** Copies the text of an element, and returns what was done. Without TLS there is no clipboard but on loopback, so it is selected for the keyboard. */
export async function copied(node) {
  try {
    await navigator.clipboard.writeText(node.textContent)
    return 'copied'
  } catch {
    getSelection()?.selectAllChildren(node)
    return 'selected: copy it with the keyboard'
  }
}

function line(name, text) {
  const said = el('span', {class: 'soft small', role: 'status'})
  const copy = async () => { said.textContent = await copied(pre) }
  const pre = el('pre', {tabindex: '0', 'aria-label': name}, text)
  return [el('div', {class: 'row'}, el('h3', {}, name), button('Copy', copy, {class: 'bare', 'aria-label': `Copy ${name}`}), said), pre]
}

/** What this screen does, as calls: `calls` are those of `curl`, `commands` lines of pushfan. `before` is what it takes the place of. */
export function asCommands(calls, commands, before) {
  return el('details', {class: 'as', open: before?.querySelector('details.as')?.open}, el('summary', {}, 'As curl, as pushfan'), el('p', {class: 'small soft'}, 'KEY has your key; PUSHFAN_KAFKA_BOOTSTRAP_SERVERS names the brokers for pushfan.'),
    line('As curl', calls.map(curl).join('\n')), commands.length ? line('As pushfan', commands.join('\n')) : null)
}
