// JSON as text: nothing in it is read as a number, so each digit stays as it was written.

const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|[^\s"[\]{},:]+/g
const steps = {'{': 1, '[': 1, '}': -1, ']': -1}

/** Text of JSON with its blanks in place. What is none, or mostly depth, stays as it is. */
export function pretty(text) {
  try { JSON.parse(text) } catch { return text }
  let made = '', depth = 0, before
  for (const [one] of text.matchAll(token)) {
    const step = steps[one]
    if (step < 0) depth--
    if (step < 0 ? !(steps[before] > 0) : steps[before] > 0 || before === ',') made += `\n${'  '.repeat(depth)}`
    made += one === ':' ? ': ' : one
    if (step > 0 && ++depth > 100) return text
    before = one
  }
  return made
}

// The members of an object: of each its name, and its text with and without that.
function members(text) {
  const found = []
  let depth = 0, name, begin
  for (const {0: one, index} of text.matchAll(token)) {
    const isOwn = depth === 1
    depth += steps[one] ?? 0
    if (isOwn && (one === ',' || !depth)) {
      const whole = text.slice(begin, index).trim()
      if (name) found.push({name: JSON.parse(name), whole, value: whole.slice(name.length).replace(/^\s*:\s*/, '')})
      name = null
    } else if (isOwn && !name) [name, begin] = [one, index]
  }
  return found
}

/** The text of a member's value, or nothing. */
export const member = (text, name) => members(text).findLast((one) => one.name === name)?.value

/** An object's text without a member. */
export const without = (text, name) => `{${members(text).filter((one) => one.name !== name).map((one) => one.whole)}}`
