// The body of a function that WebDriver runs: returns what breaks WCAG 2.2 AA on the page, as lines of text.
// It judges what computed styles and boxes can say. Names and roles, and the order of focus, are asked of the driver.
const faults = []
const where = (node) => {
  const own = node.id ? '#' + node.id : [...node.classList].slice(0, 2).map((name) => '.' + name).join('')
  const text = (node.getAttribute('aria-label') || node.textContent || '').trim().replace(/\s+/g, ' ').slice(0, 40)
  return `${node.localName}${own}${text ? ` "${text}"` : ''}`
}
const fault = (rule, node, detail = '') => {
  if (faults.filter((one) => one.startsWith(rule)).length < 3) faults.push(`${rule}: ${node ? where(node) : ''} ${detail}`.trim())
}
const box = (node) => node.getBoundingClientRect()
// Text that is clipped to a dot is for those who hear the page.
const isShown = (node) => node.checkVisibility({visibilityProperty: true, opacityProperty: true}) && box(node).width > 1 && box(node).height > 1
const modal = document.querySelector('dialog:modal')
const shown = (css) => [...document.querySelectorAll(css)].filter((node) => isShown(node) && (!modal || modal.contains(node)))

// Colours. A canvas knows every notation.
const context = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true})
const known = new Map()
const colour = (text) => {
  if (!known.has(text)) {
    context.clearRect(0, 0, 1, 1)
    context.fillStyle = text
    context.fillRect(0, 0, 1, 1)
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data
    known.set(text, [red, green, blue, alpha / 255])
  }
  return known.get(text)
}
const over = (top, bottom) => [0, 1, 2].map((at) => top[at] * top[3] + bottom[at] * (1 - top[3])).concat(1)
// Relative luminance and contrast ratio: WCAG 2.2, section 6.
const luminance = (rgb) => {
  const [red, green, blue] = rgb.slice(0, 3).map((value) => value / 255).map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
const contrast = (one, other) => {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}
const canvas = colour(getComputedStyle(document.documentElement).colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches ? '#121212' : '#fff')
const background = (node) => {
  const layers = []
  for (let one = node; one; one = one.parentElement) {
    layers.push(colour(getComputedStyle(one).backgroundColor))
    if (layers.at(-1)[3] === 1) break
  }
  return layers.reduceRight((below, layer) => over(layer, below), canvas)
}
const opacity = (node) => {
  let product = 1
  for (let one = node; one; one = one.parentElement) product *= Number(getComputedStyle(one).opacity)
  return product
}
const isDisabled = (node) => node.closest(':disabled, [aria-disabled=true]') !== null
const checkContrast = (node, text, least, rule) => {
  const below = background(node)
  const [red, green, blue, alpha] = colour(text)
  const ratio = contrast(over([red, green, blue, alpha * opacity(node)], below), below)
  if (ratio < least) fault(rule, node, `has ${ratio.toFixed(2)} of ${least}`)
}

// Text.
const texts = document.createTreeWalker(modal ?? document.body, NodeFilter.SHOW_TEXT)
const judged = new Set()
while (texts.nextNode()) {
  const node = texts.currentNode.parentElement
  if (!node || !texts.currentNode.nodeValue?.trim() || judged.has(node) || !isShown(node) || isDisabled(node) || /^(script|style|noscript|title|option)$/.test(node.localName)) continue
  judged.add(node)
  const style = getComputedStyle(node)
  const size = parseFloat(style.fontSize)
  const isLarge = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700
  checkContrast(node, node instanceof SVGElement ? style.fill : style.color, isLarge ? 3 : 4.5, 'contrast of text (1.4.3)')
}
for (const field of shown('input[placeholder], textarea[placeholder]')) {
  checkContrast(field, getComputedStyle(field, '::placeholder').color, 4.5, 'contrast of a placeholder (1.4.3)')
}

// Controls.
const controls = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"])'
for (const field of shown('input:not([type=checkbox], [type=radio], [type=hidden]), select, textarea')) {
  if (isDisabled(field)) continue
  const style = getComputedStyle(field)
  const around = background(field.parentElement)
  const edges = [over(colour(style.backgroundColor), around)]
  if (parseFloat(style.borderBottomWidth) >= 1) edges.push(over(colour(style.borderBottomColor), around))
  const ratio = Math.max(...edges.map((edge) => contrast(edge, around)))
  if (ratio < 3) fault('contrast of a border (1.4.11)', field, `has ${ratio.toFixed(2)} of 3`)
}
// A target may be smaller where a circle of 24 px around its centre touches no other target, nor the circle of another small one.
const targets = shown(controls).map((node) => {
  const {left, top, right, bottom, width, height} = box(node.closest('label') ?? node)
  return {node, left, top, right, bottom, width, height, x: (left + right) / 2, y: (top + bottom) / 2, isSmall: width < 23.9 || height < 23.9}
})
const gap = (small, other) => other.isSmall
  ? Math.hypot(small.x - other.x, small.y - other.y) - 24
  : Math.hypot(Math.max(other.left - small.x, 0, small.x - other.right), Math.max(other.top - small.y, 0, small.y - other.bottom)) - 12
for (const small of targets.filter((target) => target.isSmall)) {
  const {node, width, height} = small
  const isInline = getComputedStyle(node).display === 'inline' && [...node.parentElement.childNodes].some((one) => one.nodeType === 3 && one.data.trim())
  const near = targets.find((other) => !node.contains(other.node) && !other.node.contains(node) && gap(small, other) < 0)
  if (!isInline && near) fault('target of 24 px (2.5.8)', node, `is ${width.toFixed(0)} × ${height.toFixed(0)}, and ${where(near.node)} is near`)
}
for (const node of shown(controls)) {
  if (node.tabIndex > 0) fault('order of focus (2.4.3)', node, `has tabindex ${node.tabIndex}`)
  if (node.closest('[aria-hidden=true]')) fault('hidden, but takes focus (4.1.2)', node)
  if (node.parentElement.closest('button, a[href], summary')) fault('a control within a control (4.1.2)', node)
}
for (const field of shown('input:not([type=hidden]), select, textarea')) {
  if (!field.labels?.length && !field.getAttribute('aria-label') && !field.getAttribute('aria-labelledby')) fault('label (3.3.2)', field)
}

// Structure.
if (!document.documentElement.lang) fault('language (3.1.1)', document.documentElement)
if (!document.title.trim()) fault('title (2.4.2)', document.head)
if (document.querySelector('meta[name=viewport][content*="user-scalable=no"], meta[name=viewport][content*="maximum-scale"]')) fault('zoom is forbidden (1.4.4)')
if (!modal) {
  for (const [css, name] of [['h1', 'one h1'], ['main', 'one main'], ['body > header', 'one header']]) {
    if (shown(css).length !== 1) fault('landmarks (1.3.1)', null, `${shown(css).length} in place of ${name}`)
  }
  const screens = document.querySelector('main')?.dataset.screen
  if (screens && screens !== 'sign-in' && !shown('nav').length) fault('landmarks (1.3.1)', null, 'no nav')
  if (shown('nav a[href]').length && shown('nav [aria-current=page]').length !== 1) fault('the current screen (1.3.1)', null, 'none, or more than one')
}
let level = 0
for (const heading of shown('h1, h2, h3, h4, h5, h6')) {
  const own = Number(heading.localName[1])
  if (own > level + 1 && !modal) fault('order of headings (1.3.1)', heading, `follows h${level}`)
  level = own
}
const ids = [...document.querySelectorAll('[id]')].map((node) => node.id)
for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) fault('id used twice', document.getElementById(id))
for (const name of ['aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-owns', 'aria-activedescendant', 'aria-errormessage', 'for', 'list']) {
  for (const node of document.querySelectorAll(`[${name}]:not(dialog:not([open]), dialog:not([open]) *)`)) {
    for (const id of node.getAttribute(name)?.split(/\s+/) ?? []) {
      // What is controlled may not be there yet.
      if (id && !document.getElementById(id) && node.getAttribute('aria-expanded') !== 'false') fault('names what does not exist (4.1.2)', node, `${name}=${id}`)
    }
  }
}
if (!document.querySelector('[aria-live], [role=status], [role=alert], [role=log], output')) fault('status messages (4.1.3)', null, 'no live region')
for (const dialog of shown('dialog')) {
  if (!dialog.getAttribute('aria-labelledby') && !dialog.getAttribute('aria-label')) fault('a dialog without a name (4.1.2)', dialog)
}

// Pictures and tables.
for (const image of document.querySelectorAll('img')) if (!image.hasAttribute('alt')) fault('text in place of a picture (1.1.1)', image)
for (const drawing of shown('svg')) {
  const isNamed = drawing.getAttribute('aria-label') || drawing.getAttribute('aria-labelledby') || drawing.querySelector(':scope > title')
  if (!drawing.closest('[aria-hidden=true]') && !(drawing.getAttribute('role') === 'img' && isNamed)) fault('text in place of a drawing (1.1.1)', drawing)
}
for (const table of shown('table')) {
  if (!table.caption && !table.getAttribute('aria-label') && !table.getAttribute('aria-labelledby')) fault('a table without a name (1.3.1)', table)
  if (!table.querySelector('th')) fault('a table without headers (1.3.1)', table)
  for (const header of table.querySelectorAll('th')) {
    if (!header.scope) fault('a header without scope (1.3.1)', header)
  }
}
for (const list of shown('ul, ol')) {
  for (const child of list.children) if (!/^(li|script|template)$/.test(child.localName)) fault('a list with what is no item (1.3.1)', child)
}
return [...new Set(faults)]
