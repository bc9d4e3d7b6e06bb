// Words and figures, as a person reads them.

import {el} from './dom.js'

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
export function clockText(text) {
  const moment = new Date(text)
  if (Number.isNaN(moment.getTime())) return String(text)
  const today = moment.toDateString() === new Date().toDateString()
  return today ? clock.format(moment) : `${day.format(moment)} ${clock.format(moment)}`
}

/** Hours and minutes of a moment. */
export const minuteText = (moment) => short.format(new Date(moment))

/** A moment in local time, in UTC for the mouse. */
export const time = (text) => text ? el('time', {datetime: text, title: `${text} (UTC)`}, clockText(text)) : '–'

/** A moment as so long ago. */
export const ago = (text) => text ? el('time', {datetime: text, title: `${text} (UTC)`}, `${duration(Math.max(0, Date.now() - new Date(text)))} ago`) : '–'

/** The tone of a request's, a call's or a replay's state. */
export const tone = (word) => ({
  sent: 'good', success: 'good', ok: 'good', done: 'good', closed: 'good', running: 'good', repaired: 'good', safe: 'good', Completed: 'good',
  partial: 'warn', expired: 'warn', ambiguous: 'warn', half_open: 'warn', paused: 'warn', interrupted: 'warn', retrying: 'warn', duplicate_risk: 'warn', no_target: 'warn', revoking: 'warn', stopping: 'warn',
  failed: 'bad', rejected: 'bad', unknown: 'bad', open: 'bad', transient: 'bad', permanent: 'bad', Abandoned: 'bad', Unknown: 'bad', stale: 'bad',
}[word] ?? 'soft')

/** A word for the shell: as it is, or within quotes. */
export const shell = (text) => /^[A-Za-z0-9_.,:\/@%+=-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`

/** Text whose words between backticks are code. */
export const withCode = (text = '') => text.split('`').map((part, place) => place % 2 ? el('code', {}, part) : part)
