import { expect, it } from 'vitest'
import { agentsOf } from './agents'
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
  const [reader, other, ...rest] = agentsOf(items)
  expect(rest).toEqual([])
  expect(reader).toMatchObject({
    key: 'tool:2',
    name: 'Read',
    kind: 'general',
    state: 'working',
    calls: 2,
    said: 'I look.',
  })
  expect(reader?.latest).toBe(second)
  expect(other).toMatchObject({ state: 'failed', latest: null, calls: 0 })
})
it.each([
  ['working', 'working'],
  ['idle', 'resting'],
  ['left', 'done'],
] as const)('has a teammate that is %s as %s', (status, state) => {
  const teammate = { name: 'Ada', role: 'writer', status, reason: null }
  expect(agentsOf([call({ key: 'tool:1', agentId: 'a', teammate, outcome: 'succeeded' })])).toMatchObject([
    { name: 'Ada', kind: 'writer', state },
  ])
})
