// What fails, by cause: how much of it is open, what to do, and the way to see and repeat it.

import {asCommands, get, target} from './api.js'
import {button, el, mark, show, state, table} from './dom.js'
import {count, plural, shell, time, withCode} from './format.js'
import {go, link, needs, problemNotice, watchCount} from './view.js'

const spans = [['15m', 'Last 15 minutes'], ['1h', 'Last hour'], ['1d', 'Last day'], ['7d', 'Last 7 days'], ['', 'Everything kept']]
const safeties = {safe: 'safe to repeat', ambiguous: 'may have arrived', duplicate_risk: 'would arrive twice', pointless: 'pointless to repeat'}

/** The filter of a group's results. */
export const groupFilter = (group, rest) => [
  group.code && `error:${group.code}`, group.hub && `hub:${group.hub}`,
  group.platforms?.length ? `platform:${group.platforms.join(',')}` : '', rest].filter(Boolean).join(' ')

function safety(group) {
  return el('span', {}, Object.entries(group.replay_safety ?? {}).map(([word, number], place) => [
    place ? ', ' : '', `${count(number)} ${safeties[word] ?? word}`]))
}

function open(view) {
  const filter = view.members.get('filter') ?? ''
  const span = spans.some(([value]) => value === view.members.get('since')) ? view.members.get('since') : '1d'
  const whole = () => [span && `since:${span}`, filter].filter(Boolean).join(' ')
  const path = () => target('v1/failures', {filter: whole()})
  const body = el('div', {class: 'card'}, el('p', {class: 'soft'}, 'Counting…'))
  const summary = el('p', {class: 'soft'})
  const line = el('input', {name: 'filter', value: filter, 'aria-label': 'Filter, such as hub:north', placeholder: 'Filter, such as hub:north', spellcheck: 'false', autocomplete: 'off'})
  const range = el('select', {'aria-label': 'Since'}, spans.map(([value, text]) => el('option', {value, selected: value === span}, text)))
  const apply = (event) => {
    event?.preventDefault()
    go(link('failures', undefined, {filter: line.value.trim(), since: range.value}) + (range.value ? '' : `${line.value.trim() ? '&' : '?'}since=`))
  }
  range.addEventListener('change', apply)
  let failed = 0, isIndexed = false

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
    {title: 'What to do', cell: (group) => [el('p', {}, withCode(group.remedy || '–')), el('p', {class: 'small soft'}, safety(group))]},
    {title: 'Act', cell: (group) => el('div', {class: 'acts'},
      el('a', {class: 'button', href: link('requests', undefined, {filter: groupFilter(group, whole())}), 'aria-label': `See ${group.code} of ${group.hub || 'no hub'}`}, 'See'),
      needs('replay', button('Replay…', () => go(link('replays', 'new', {filter: groupFilter(group, whole())})),
        {'data-action': 'replay', 'aria-label': `Replay ${group.code} of ${group.hub || 'no hub'}…`})))},
  ], {hidden: true, data: (group) => ({'data-row': true, 'data-cause': group.code, 'data-hub': group.hub})})

  async function ask() {
    const found = await get(path(), view.signal)
    failed = found.failed
    isIndexed = found.searched?.by === 'index'
    mark(line, 'aria-invalid', null)
    show(summary, found.failed ? [`${plural(found.open, 'request')} open of ${count(found.failed)} that failed, ${count(found.repaired)} repaired`,
      found.being_repaired ? `, ${count(found.being_repaired)} under way` : '', found.failed_again ? `, ${count(found.failed_again)} failed again` : '', '. ']
      : 'Nothing has failed. ',
    found.dead_letters?.count ? [el('a', {href: link('deadletters')}, `${plural(found.dead_letters.count, 'dead letter')}${found.dead_letters.exact === false ? ' or more' : ''}`), ' beside them. '] : null,
    found.searched?.complete === false ? 'Not everything was read.' : '')
    groups.rows([...found.items].sort((one, other) => other.open - one.open || other.count - one.count))
    show(body, found.items.length ? groups.node : el('p', {}, state('Nothing failed here.', 'good')))
    view.ready()
  }

  const shown = el('div', {class: 'row end'}, needs('replay', button('Replay all open…', () => go(link('replays', 'new', {filter: whole()})))))
  view.frame(shown,
    el('form', {class: 'row', onsubmit: apply}, el('div', {class: 'combo'}, line), range, el('button', {class: 'main'}, 'Search')),
    // Without an index each count reads the whole topic.
    watchCount(view, async () => ({fresh: isIndexed ? (await get(path(), view.signal)).failed - failed : 0}), () => view.run(ask, body)),
    summary, body, asCommands([{path: path()}], [`pushfan failed ${whole().split(' ').filter(Boolean).map(shell).join(' ')}`.trim()]))
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
