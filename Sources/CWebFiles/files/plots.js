// Plots, drawn by hand as SVG, each with its table.

import {el, minuteText, say, show, svg, table} from './kit.js'

const height = 176
const edge = {left: 48, right: 8, top: 8, bottom: 20}

/** The round number at or above a value: 1, 2 or 5 times a power of ten. */
function roundUp(value) {
  if (!(value > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999)
}

const linear = (top) => ({top, at: (value) => value / top, ticks: [0, top / 2, top]})

// From 1 ms on, each power of ten has the same height.
function logarithmic(top) {
  const decades = Math.max(1, Math.ceil(Math.log10(Math.max(10, top))))
  return {top: 10 ** decades, at: (value) => Math.max(0, Math.log10(Math.max(1, value))) / decades, ticks: Array.from({length: decades + 1}, (_, power) => 10 ** power)}
}

const key = (series) => svg('svg', {viewBox: '0 0 20 12', 'aria-hidden': 'true'}, series.line
  ? svg('path', {class: `l l-${series.tone} ${series.line}`, d: 'M0 6H20'})
  : svg('rect', {class: `f-${series.tone}`, width: 20, height: 12}))

/**
 * A plot over time. Series are {name, tone, line, values}: with `line` (`solid`, `dash`, `dot`) a line each, else parts of one bar for each
 * time. A value that is not known is undefined. `update(times, series)` draws it, `step` is the time between two values.
 */
export function plot(title, {format, scale = 'linear', step, empty = 'Nothing yet.'}) {
  const drawing = svg('svg', {class: 'plot', role: 'img'})
  const legend = el('ul', {class: 'legend'})
  const twin = el('div')
  const details = el('details', {ontoggle: () => fillTable()}, el('summary', {}, 'As a table'), twin)
  const node = el('figure', {class: 'card'}, el('h2', {}, title), drawing, legend, details)
  let times = [], series = [], width = 600, picked = null

  function fillTable() {
    if (!details.open) return show(twin)
    const rows = table(title, [
      {title: 'Time', row: true, cell: (place) => minuteText(times[place]) + (step < 60000 ? `:${String(new Date(times[place]).getSeconds()).padStart(2, '0')}` : '')},
      ...series.map((one) => ({title: one.name, number: true, cell: (place) => one.values[place] === undefined ? '–' : format(one.values[place])})),
    ], {hidden: true, cards: false})
    rows.rows(times.map((_, place) => times.length - 1 - place))
    show(twin, rows.node)
  }

  function label() {
    const place = picked ?? times.length - 1
    show(legend, series.map((one) => el('li', {}, key(one), `${one.name} `, el('b', {}, one.values[place] === undefined ? '–' : format(one.values[place])))),
      times.length ? el('li', {class: 'soft'}, picked === null ? 'latest' : `at ${minuteText(times[place])}`) : null)
  }

  function draw() {
    const from = times[0], span = Math.max(step, (times.at(-1) ?? 0) - from + step)
    const inner = {width: width - edge.left - edge.right, height: height - edge.top - edge.bottom}
    const sums = times.map((_, place) => series.reduce((sum, one) => sum + (one.values[place] ?? 0), 0))
    const isStack = series.every((one) => !one.line)
    const most = isStack ? Math.max(0, ...sums) : Math.max(0, ...series.flatMap((one) => one.values.map((value) => value ?? 0)))
    const axis = scale === 'log' ? logarithmic(most) : linear(roundUp(most))
    const x = (time) => edge.left + (time - from) / span * inner.width
    const y = (value) => edge.top + inner.height * (1 - Math.min(1, axis.at(value)))
    const parts = (most ? axis.ticks : [0]).map((tick) => [
      svg('path', {class: 'grid', d: `M${edge.left} ${y(tick).toFixed(1)}H${width - edge.right}`}),
      most ? svg('text', {x: edge.left - 6, y: y(tick) + 4, 'text-anchor': 'end'}, format(tick)) : [],
    ])
    if (times.length) {
      // As many labels as there is room for, none twice.
      let free = -Infinity, said = ''
      times.forEach((time, place) => {
        const text = minuteText(time), at = x(time)
        if (text === said || at < free || at > width - 40) return
        parts.push(svg('text', {x: at, y: height - 4, 'text-anchor': place ? 'middle' : 'start'}, text))
        free = at + Math.max(70, inner.width / 5)
        said = text
      })
    }
    if (isStack) {
      const bar = Math.max(1, inner.width * step / span - 1)
      times.forEach((time, place) => {
        let below = 0
        for (const one of series) {
          const value = one.values[place]
          if (!value) continue
          parts.push(svg('rect', {class: `f-${one.tone}`, x: x(time).toFixed(1), width: bar.toFixed(1), y: y(below + value).toFixed(1), height: Math.max(1, y(below) - y(below + value)).toFixed(1)}))
          below += value
        }
      })
    } else {
      for (const one of series) {
        let path = '', isDrawn = false
        one.values.forEach((value, place) => {
          if (value === undefined) { isDrawn = false; return }
          path += `${isDrawn ? 'L' : 'M'}${x(times[place]).toFixed(1)} ${y(value).toFixed(1)}${isDrawn ? '' : 'h.01'}`
          isDrawn = true
        })
        parts.push(svg('path', {class: `l l-${one.tone} ${one.line}`, d: path, 'stroke-linecap': 'round'}))
      }
    }
    if (picked !== null && times[picked] !== undefined) parts.push(svg('path', {class: 'now', d: `M${x(times[picked] + step / 2).toFixed(1)} ${edge.top}V${height - edge.bottom}`}))
    if (!most) parts.push(svg('text', {x: width / 2, y: height / 2, 'text-anchor': 'middle'}, empty))
    drawing.setAttribute('viewBox', `0 0 ${width} ${height}`)
    const last = series.map((one) => `${one.name} ${one.values.at(-1) === undefined ? 'not known' : format(one.values.at(-1))}`)
    drawing.setAttribute('aria-label', `${title}. Latest: ${last.join(', ')}. The table below has every value.`)
    show(drawing, parts)
    label()
  }

  drawing.addEventListener('pointermove', (event) => {
    if (!times.length) return
    const box = drawing.getBoundingClientRect()
    const share = ((event.clientX - box.left) / box.width * width - edge.left) / (width - edge.left - edge.right)
    const span = times.at(-1) - times[0] + step
    picked = Math.min(times.length - 1, Math.max(0, times.findLastIndex((time) => time <= times[0] + share * span)))
    draw()
  })
  drawing.addEventListener('pointerleave', () => { picked = null; draw() })
  new ResizeObserver(([entry]) => {
    const found = Math.round(entry.contentRect.width)
    if (found && found !== width) { width = found; draw() }
  }).observe(drawing)

  return {
    node,
    update(newTimes, newSeries) {
      const isLonger = newTimes.at(-1) !== times.at(-1)
      times = newTimes
      series = newSeries
      if (picked !== null && isLonger) picked = null
      draw()
      if (details.open && isLonger) fillTable()
    },
  }
}

/** A figure with a name, a small line of its last values, and a second line. */
export function tile(name, metric, tone = 'accent') {
  const figure = el('p', {class: 'figure', 'data-metric': metric}, '–')
  const second = el('p', {class: 'small soft'}, '\u00a0')
  const line = svg('path', {class: `l l-${tone}`, d: '', 'vector-effect': 'non-scaling-stroke'})
  const spark = svg('svg', {class: 'spark', viewBox: '0 0 100 20', preserveAspectRatio: 'none', 'aria-hidden': 'true'}, line)
  return {
    node: el('div', {class: 'card'}, el('h2', {class: 'small soft'}, name), figure, second, spark),
    update(text, more, values = [], toneNow = '') {
      say(figure, text)
      say(second, more || '\u00a0')
      figure.className = `figure ${toneNow}`
      const known = values.filter((value) => value !== undefined)
      const top = Math.max(1e-9, ...known)
      const path = known.map((value, place) => `${place ? 'L' : 'M'}${(place / Math.max(1, known.length - 1) * 100).toFixed(1)} ${(19 - value / top * 18).toFixed(1)}`).join('')
      if (line.getAttribute('d') !== path) line.setAttribute('d', known.length > 1 ? path : '')
    },
  }
}
