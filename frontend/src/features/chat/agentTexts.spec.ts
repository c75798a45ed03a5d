import { expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { differsInTextAlone } from './live'
import { reduce } from './reducer'
import { emptyTranscript, type ToolItem, type Transcript } from './transcript'

const base = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const agent = { kind: 'tool', key: 'tool:1', callId: 'c', agentId: 'a', outcome: 'running', teammate: null, inner: [] }
const other = { ...agent, key: 'tool:2', callId: 'd', agentId: 'b' }
const begun = { ...emptyTranscript, lastSeq: 9, items: [agent, other] as unknown as readonly ToolItem[] }
const event = (fields: object): WireEvent => ({ ...base, ...fields }) as WireEvent
const piece = (agentId: string, offset: number, text: string, kind = 'text'): WireEvent =>
  event({ seq: null, type: 'agent.delta', agent_id: agentId, message_id: `m-${agentId}`, kind, offset, text })
const texts = ({ agentTexts }: Transcript): string[] => agentTexts.map(({ agentId, text }) => `${agentId}: ${text}`)

it('keeps what several agents write apart from each other and from the answer, whole and once', () => {
  const pieces = [piece('a', 0, 'On'), piece('b', 0, 'Two'), piece('a', 2, 'e'), piece('a', 0, 'One')]
  const state = pieces.reduce(reduce, begun)
  expect(texts(state)).toEqual(['a: One', 'b: Two'])
  expect(state.live).toEqual([])
  expect(state.items).toBe(begun.items)
  const next = reduce(state, piece('b', 3, '!'))
  expect(differsInTextAlone(state, next)).toBe(true)
  expect(differsInTextAlone(begun, state)).toBe(true)
})

it('asks again where a piece is missing, and takes no word of one that is not at work here', () => {
  expect(reduce(begun, piece('a', 5, 'late')).gaps).toBe(1)
  expect(reduce(begun, piece('gone', 0, 'who'))).toBe(begun)
  const over = { ...begun, items: [{ ...agent, outcome: 'succeeded' }] as unknown as readonly ToolItem[] }
  expect(reduce(over, piece('a', 0, 'late'))).toBe(over)
})

it('has it once when it is stored, and thinking stays with the work', () => {
  const written = [piece('a', 0, 'Hm', 'thinking'), piece('a', 0, 'One')].reduce(reduce, begun)
  const told = { message_id: 'm-a', agent_id: 'a', partial: false, duration_ms: 5 }
  const thought = reduce(written, event({ seq: 10, type: 'thinking.completed', ...told, text: 'Hm' }))
  const said = reduce(thought, event({ seq: 11, type: 'message.completed', ...told, text: 'One' }))
  expect(texts(said)).toEqual([])
  expect((said.items[0] as ToolItem).inner.map(({ kind }) => kind)).toEqual(['thinking', 'assistant'])
  expect(reduce(said, piece('a', 0, 'One'))).toBe(said)
})

it.each([
  [
    'its call has its result',
    { type: 'tool.finished', call_id: 'c', success: true, preview: '', display: null, body: null },
  ],
  ['it calls a tool', { type: 'tool.called', call_id: 'x', name: 'n', arguments: {}, phrase: '', agent_id: 'a' }],
])('leaves nothing of it once %s', (_, fields) => {
  const written = [piece('a', 0, 'One'), piece('b', 0, 'Two')].reduce(reduce, begun)
  expect(texts(reduce(written, event({ seq: 10, ...fields })))).toEqual(['b: Two'])
})
