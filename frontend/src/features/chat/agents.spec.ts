import { expect, it } from 'vitest'
import { agentView, agentsOf, workedMs } from './agents'
import { lastLine } from './lastLine'
import type { Item, ToolItem } from './transcript'

const call = (more: Partial<ToolItem>): ToolItem =>
  ({
    kind: 'tool',
    agentId: null,
    agentKind: null,
    teammate: null,
    inner: [],
    outcome: 'running',
    arguments: {},
    ...more,
  }) as ToolItem

it('tells of each agent what it is at now, or did and said last', () => {
  const [first, second] = [call({ name: 'shell_exec', outcome: 'succeeded' }), call({ name: 'file_read' })]
  const said = { kind: 'assistant', text: 'I look.' } as ToolItem['inner'][number]
  const items: Item[] = [
    call({ key: 'tool:1', agentId: null }),
    call({
      key: 'tool:2',
      agentId: 'a',
      agentKind: 'general',
      arguments: { description: 'Read' },
      inner: [first, said, second],
    }),
    call({ key: 'tool:3', agentId: 'b', outcome: 'failed' }),
  ]
  const [reader, other, ...rest] = agentsOf(items).map(agentView)
  expect(rest).toEqual([])
  expect(reader).toMatchObject({
    name: 'Read',
    kind: 'general',
    state: 'working',
    steps: 2,
    said: 'I look.',
  })
  expect(reader?.latest).toBe(second)
  expect(other).toMatchObject({ state: 'failed', latest: null, steps: 0 })
})
it.each([
  ['working', 'working'],
  ['idle', 'resting'],
  ['left', 'done'],
] as const)('has a teammate that is %s as %s', (status, state) => {
  const teammate = { name: 'Ada', role: 'writer', status, reason: null }
  expect(agentView(call({ agentId: 'a', teammate, outcome: 'succeeded' }))).toMatchObject({
    name: 'Ada',
    kind: 'writer',
    state,
  })
})

it('says the last line of what is written, and how long somebody is at it', () => {
  expect(lastLine('# First\n\nThe **last** one\n\n---\n')).toBe('The last one')
  expect(lastLine('')).toBe('')
  const startedAt = '2026-01-01T00:00:00Z'
  const now = Date.parse(startedAt) + 5000
  expect(workedMs(call({ startedAt, durationMs: null }), 'working', now)).toBe(5000)
  expect(workedMs(call({ startedAt, durationMs: 700 }), 'done', now)).toBe(700)
  const teammate = {
    name: 'Ada',
    role: '',
    status: 'left',
    reason: null,
    since: startedAt,
    at: '2026-01-01T00:00:03Z',
  } as const
  expect(workedMs(call({ startedAt, durationMs: 10, teammate }), 'done', now)).toBe(3000)
})
