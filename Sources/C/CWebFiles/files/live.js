// What workers report, each second: one stream of events for the page, closed while nobody looks.

import {address, call, may} from './api.js'

const listeners = new Set()
/** The longest time without an event before the stream counts as cut, in milliseconds. */
const silence = 6000
const memory = 180
/** The time after which a key without the stream asks for orders again, in milliseconds. */
const again = 30000

/**
 * The last events, the orders that stand, the figures of each of the last seconds, and how the stream is: `live`, `connecting`, `cut`, `refused`.
 * @type {Live}
 */
export const live = {fleet: null, backlog: null, orders: [], series: [], arrived: 0, state: 'connecting', reason: '', isPaused: false}

let source = null
let isBegun = false
let retry = 0
let asking = 0
let delay = 1000

/** True while the page is to ask nothing. */
export const isQuiet = () => live.isPaused || document.hidden

/** Calls `heard` after each event and each change of the stream, until the signal. */
export function follow(heard, signal) {
  listeners.add(heard)
  signal.addEventListener('abort', () => listeners.delete(heard))
}

const tell = () => listeners.forEach((heard) => heard())

function become(state, reason = '') {
  live.state = state
  live.reason = reason
  tell()
  if (state === 'refused') askOrders()
}

/** Asks for the orders that stand, and again: only where no stream has them, as for a key with a tenant. A refusal stays one. */
export async function askOrders() {
  clearTimeout(asking)
  if (live.state !== 'refused' || !may('read') && !may('operate')) return
  try {
    if (!isQuiet()) {
      const {json} = await call('GET', 'v1/holds')
      if (live.state !== 'refused') return
      live.orders = json.items
      tell()
    }
  } catch (problem) {
    if (problem.status >= 400 && problem.status < 500) return
  }
  clearTimeout(asking)
  asking = setTimeout(askOrders, again)
}

function take(fleet) {
  live.fleet = fleet
  // Without them it is not known now what stands.
  live.orders = fleet.orders ?? live.orders
  live.arrived = performance.now()
  live.state = 'live'
  delay = 1000
  const at = Date.parse(fleet.at)
  const last = live.series.at(-1)
  if (!last || at > last.at) live.series.push({at, finished: isAway() ? undefined : fleet.finished_per_second, published: live.backlog?.published_per_second})
  if (live.series.length > memory) live.series.shift()
  tell()
}

function open() {
  clearTimeout(retry)
  if (source || !isBegun || isQuiet()) return
  become('connecting')
  source = new EventSource(address('v1/status/events'))
  source.addEventListener('fleet', (event) => take(JSON.parse(event.data)))
  source.addEventListener('backlog', (event) => {
    live.backlog = JSON.parse(event.data)
    tell()
  })
  source.onerror = lose
}

// A browser connects again by itself only after some failures. This does in any case, each time a little later.
async function lose() {
  close()
  become('cut')
  try {
    await call('HEAD', 'v1/status/events')
  } catch (problem) {
    if (problem.status === 401) return
    if (problem.status === 403) return become('refused', problem.message)
  }
  retry = setTimeout(open, delay)
  delay = Math.min(delay * 2, 15000)
}

function close() {
  clearTimeout(retry)
  source?.close()
  source = null
}

/** Begins, or goes on. */
export function start() {
  isBegun = true
  open()
}

/** Ends. */
export function end() {
  isBegun = false
  clearTimeout(asking)
  close()
  Object.assign(live, {fleet: null, backlog: null, orders: [], series: [], state: 'connecting'})
}

/** Holds what is on screen, or lets it move again. */
export function pause(isPaused) {
  live.isPaused = isPaused
  if (isPaused) document.body.dataset.paused = 'true'
  else delete document.body.dataset.paused
  if (isPaused) close()
  else open()
  tell()
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) close()
  else if (isBegun && live.state !== 'refused') open()
})

setInterval(() => {
  if (source && live.state === 'live' && performance.now() - live.arrived > silence) lose()
}, 1000)

/** Says that there is nothing to follow. */
export const refuse = (reason) => become('refused', reason)

/** The present as the gateway has it, in milliseconds since 1970: the browser's clock may be another. */
export const present = () => live.fleet ? Date.parse(live.fleet.at) + performance.now() - live.arrived : Date.now()

/** True while the gateway cannot reach Kafka: then nothing that it says of the fleet is of the present. */
export const isAway = () => live.fleet?.kafka?.reachable === false

/**
 * The age of the figures on screen in milliseconds, or nil: since they came, and of the oldest report that counts in them. Where none counts, of
 * the newest there was, and while Kafka is away at least since then.
 */
export function age() {
  if (!live.fleet) return null
  const {at, workers, kafka} = live.fleet
  const fresh = workers.filter((worker) => !worker.stale)
  const report = fresh.length ? Math.max(...fresh.map((worker) => worker.age_ms)) : workers.length ? Math.min(...workers.map((worker) => worker.age_ms)) : 0
  return performance.now() - live.arrived + Math.max(report, isAway() ? Date.parse(at) - Date.parse(kafka.since) : 0)
}
