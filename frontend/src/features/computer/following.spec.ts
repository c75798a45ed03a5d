import { expect, it } from 'vitest'
import type { ToolCard } from '@/features/tools'
import { followedPlace, hasBegun, latestIn, marksOf } from './following'

let number = 0
const card = (name: string, more: Partial<ToolCard> = {}): ToolCard => ({
  key: `tool:${(number += 1)}`,
  callId: `call_${number}`,
  name,
  arguments: {},
  phrase: name,
  outcome: 'succeeded',
  startedAt: '2026-01-01T00:00:00Z',
  durationMs: 1,
  output: '',
  preview: '',
  display: null,
  body: null,
  ...more,
})

it.each([
  ['shell_exec', 'terminal'],
  ['file_edit', 'editor'],
  ['file_write', 'editor'],
  ['code_run', 'editor'],
  ['browser_navigate', 'browser'],
  ['web_search', 'browser'],
  ['desktop_mouse', 'desktop'],
  ['task', 'agents'],
  ['background_run', 'background'],
  ['expose_port', 'ports'],
])('%s is at work in the place %s', (name, place) => {
  expect(followedPlace([card(name, { outcome: 'running' })], false)).toBe(place)
})
it('watches the browser on the desktop where that is live, and what is no picture of a screen where it stands', () => {
  expect(followedPlace([card('shell_exec'), card('browser_view')], true)).toBe('desktop')
  expect(followedPlace([card('browser_view'), card('web_search')], true)).toBe('browser')
  expect(followedPlace([card('browser_view'), card('shell_exec')], true)).toBe('terminal')
})
it('is where the last call is that has a place, and the desktop before the first one', () => {
  expect(followedPlace([card('shell_exec'), card('think', { outcome: 'running' })], false)).toBe('terminal')
  expect(followedPlace([], false)).toBe('desktop')
})
it('is not where a call only asks, or was refused', () => {
  const asked = [card('shell_exec'), card('browser_view', { outcome: 'asking' }), card('task', { outcome: 'refused' })]
  expect(followedPlace(asked, false)).toBe('terminal')
  expect(asked.map(hasBegun)).toEqual([true, false, false])
})
it('is the desktop while the computer that a call waits for starts', () => {
  const waits = card('shell_exec', { outcome: 'running', startedAt: null })
  expect(followedPlace([waits], false)).toBe('desktop')
  expect(followedPlace([{ ...waits, startedAt: '2026-01-01T00:00:00Z' }], false)).toBe('terminal')
})
it('keeps the picture of the step before until the next one is there', () => {
  const body = { seq: 1, size: 1, media_type: 'image/jpeg', digest: '', parts: [] }
  const [seen, edit, next] = [
    card('browser_view', { body }),
    card('file_edit'),
    card('browser_click', { outcome: 'running' }),
  ]
  expect(latestIn('browser', [seen, edit, next])).toEqual({ card: next, before: seen })
  expect(latestIn('editor', [seen, edit, next])?.card).toBe(edit)
  expect(latestIn('browser', [edit])).toBeNull()
})
it('has a mark for each call, and for some together where there are too many', () => {
  const calls = Array.from({ length: 1000 }, (_, at) =>
    card('shell_exec', { outcome: at === 501 ? 'failed' : 'succeeded' }),
  )
  expect(marksOf(calls.slice(0, 3), 80)).toHaveLength(3)
  const marks = marksOf(calls, 80)
  expect(marks.length).toBeLessThanOrEqual(80)
  expect(marks.reduce((sum, { first, last }) => sum + last - first + 1, 0)).toBe(1000)
  expect([marks[0]?.first, marks.at(-1)?.last]).toEqual([0, 999])
  expect(marks.filter(({ hasFailed }) => hasFailed)).toHaveLength(1)
})
