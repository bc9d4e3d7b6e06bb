// What fails, by cause: how much of it is open, what to do, and the way to see and repeat it.

import {asCommands, get, listing} from './api.js'
import {button, count, el, mark, plural, show, state, table, time, withCode} from './kit.js'
import {live} from './live.js'
import {asWords, quoted} from './requests.js'
import {counts, go, link, needs, problemNotice, watchCount} from './view.js'

const spans = [['', 'Everything kept'], ['15m', 'Last 15 minutes'], ['1h', 'Last hour'], ['1d', 'Last day'], ['7d', 'Last 7 days']]
const safeties = {safe: 'safe to repeat', ambiguous: 'may have arrived', duplicate_risk: 'would arrive twice', pointless: 'pointless to repeat'}

// The states of requests that did not reach all.
const failing = ['failed', 'partial', 'rejected', 'expired', 'unknown']

// The filter of a group's results. The language knows "one of these platforms", and not "these and no other".
const groupFilter = (group, rest) => [
  group.code ? `error:${quoted(group.code)}` : '-error:*', group.hub ? `hub:${quoted(group.hub)}` : '-hub:*',
  group.platforms?.length ? `platform:${group.platforms.map(quoted)}` : '', /(^| )state:/.test(rest) ? '' : `state:${failing}`,
  /(^| )kind:/.test(rest) ? '' : 'kind:final,outcome', rest].filter(Boolean).join(' ')

function open(view) {
  const filter = view.members.get('filter') ?? ''
  const span = spans.some(([value]) => value === view.members.get('since')) ? view.members.get('since') : ''
  const whole = () => [span && `since:${span}`, filter].filter(Boolean).join(' ')
  const asked = () => listing('v1/failures', {filter: whole()})
  const body = el('div', {class: 'card'}, el('p', {class: 'soft'}, 'Counting…'))
  const summary = el('p', {class: 'soft'})
  const line = el('input', {name: 'filter', value: filter, 'aria-label': 'Filter, such as hub:north', placeholder: 'Filter, such as hub:north', spellcheck: 'false', autocomplete: 'off'})
  const range = el('select', {'aria-label': 'Since'}, spans.map(([value, text]) => el('option', {value, selected: value === span}, text)))
  const apply = (event) => {
    event?.preventDefault()
    go(link('failures', undefined, {filter: line.value.trim(), since: range.value}))
  }
  range.addEventListener('change', apply)
  let known = null
  const key = (group) => `${group.code} ${group.hub} ${group.platforms}`

  const groups = table('Failures by cause', [
    {title: 'Cause', row: true, cell: (group) => [
      el('a', {href: link('requests', undefined, {filter: groupFilter(group, whole())}), class: 'tag'}, group.code || 'no code'),
      el('p', {class: 'small soft'}, withCode(group.cause))]},
    {title: 'Hub', cell: (group) => el('span', {class: 'clip'}, group.hub || '–')},
    {title: 'Platforms', cell: (group) => group.platforms?.join(', ') || '–'},
    {title: 'Open', number: true, cell: (group) => group.open ? state(count(group.open), 'bad') : state('0', 'good')},
    {title: 'Count', number: true, cell: (group) => el('span', {title: [['repaired', group.repaired], ['being repaired', group.being_repaired], ['failed again', group.failed_again]]
      .filter(([, number]) => number).map(([word, number]) => `${count(number)} ${word}`).join(', ')}, count(group.count))},
    {title: 'Repaired', number: true, cell: (group) => count((group.repaired ?? 0)) + (group.being_repaired ? ` + ${count(group.being_repaired)} under way` : '')},
    {title: 'First', cell: (group) => time(group.first_seen)},
    {title: 'Last', cell: (group) => time(group.last_seen)},
    {title: 'What to do', cell: (group) => [el('p', {}, withCode(group.remedy || '–')), el('p', {class: 'small soft'}, counts(group.replay_safety, safeties))]},
    {title: 'Act', cell: (group) => el('div', {class: 'acts'},
      el('a', {class: 'button', href: link('requests', undefined, {filter: groupFilter(group, whole())}), 'aria-label': `See ${group.code} of ${group.hub || 'no hub'}`}, 'See'),
      needs('replay', button('Replay…', () => go(link('replays', 'new', {filter: groupFilter(group, whole())})),
        {'data-action': 'replay', 'aria-label': `Replay ${group.code} of ${group.hub || 'no hub'}…`})))},
  ], {hidden: true, data: (group) => ({'data-row': true, 'data-cause': group.code, 'data-hub': group.hub})})

  // Asks again only once workers report more that did not reach all, and once more: the index is a second behind.
  const reported = () => failing.reduce((all, word) => all + (live.fleet?.finished?.[word] ?? 0), 0)
  let counted = 0, owed = 0, found = 0
  async function fresh() {
    if (reported() !== counted) [counted, owed] = [reported(), 2]
    if (known && owed-- > 0) {
      found = (await get(asked(), view.signal)).items.reduce((all, group) => {
        const before = known.get(key(group))
        return all + (before?.last_seen === group.last_seen ? 0 : Math.max(1, group.count - (before?.count ?? 0)))
      }, 0)
    }
    return {fresh: found}
  }

  async function ask() {
    found = 0
    const report = await get(asked(), view.signal)
    // Without an index each count reads the whole topic.
    known = report.searched?.by === 'index' ? new Map(report.items.map((group) => [key(group), group])) : null
    // Counts once more: an answer that is on its way is of what was shown before.
    ;[counted, owed] = [reported(), 1]
    mark(line, 'aria-invalid', null)
    show(summary, report.failed ? [`${plural(report.open, 'request')} open of ${count(report.failed)} that failed, ${count(report.repaired)} repaired`,
      report.being_repaired ? `, ${count(report.being_repaired)} under way` : '', report.failed_again ? `, ${count(report.failed_again)} failed again` : '', '. ']
      : whole() ? 'Nothing that matches has failed. ' : 'Nothing has failed. ',
    report.dead_letters?.count ? [el('a', {href: link('deadletters')}, `${plural(report.dead_letters.count, 'dead letter')}${report.dead_letters.exact === false ? ' or more' : ''}`), ' beside them. '] : null,
    report.searched?.by === 'scan' ? 'Searched in Kafka, without an index. ' : '', report.searched?.complete === false ? 'Not everything was read.' : '')
    groups.rows([...report.items].sort((one, other) => other.open - one.open || other.count - one.count))
    show(body, report.items.length ? groups.node : el('p', {}, state('Nothing failed here.', 'good')))
    view.ready()
  }

  const shown = el('div', {class: 'row end'}, needs('replay', button('Replay all open…', () => go(link('replays', 'new', {filter: whole()})), {'data-action': 'replay-all'})))
  view.frame(shown,
    el('form', {class: 'row', onsubmit: apply}, el('div', {class: 'combo'}, line), range, el('button', {class: 'main'}, 'Search')),
    watchCount(view, fresh, () => view.run(ask, body)),
    summary, body, asCommands([asked()], [['pushfan failed --all', ...asWords(whole())].join(' ')]))
  view.run(async () => {
    try { await ask() } catch (problem) {
      if (problem.status !== 400) throw problem
      mark(line, 'aria-invalid', 'true')
      show(summary, problemNotice(problem))
      show(body)
      view.ready()
    }
  }, body)
}

/** The screen. */
export const failures = {name: 'failures', title: () => 'Failures', open}
