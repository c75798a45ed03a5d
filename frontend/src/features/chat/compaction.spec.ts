import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { reduce } from './reducer'
import { emptyTranscript, type Transcript } from './transcript'

const usage = {
  input: 1,
  cached: 0,
  output: 2,
  thinking: 0,
  cache_write: 0,
  new: 3,
  cost: null,
  known_cost: 0,
  by_model: {},
}
const base = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const event = (seq: number | null, fields: object): WireEvent => ({ ...base, seq, ...fields }) as unknown as WireEvent
const play = (events: readonly WireEvent[], from: Transcript = emptyTranscript): Transcript =>
  events.reduce(reduce, from)

describe('a conversation that is summed up', () => {
  it('keeps what was said above the summary, and knows how full the context is by then', () => {
    const told = play([
      event(1, { type: 'message.user', message_id: 'u', text: 'Hi', attachments: [], client_message_id: null }),
      event(2, { type: 'message.completed', message_id: 'm', text: 'Hi.', turn: 1, partial: false, seen_seq: 1 }),
      event(3, { type: 'usage.updated', usage, context: 900, agent_usage: null }),
    ])
    expect(told.contextTokens).toBe(900)
    const fields = { kind: 'manual', before: 900, after: 120, through_seq: 3, summary: 'In short', focus: 'files' }
    const summed = play([event(4, { type: 'context.compacted', transcript: null, ...fields })], told)
    expect(summed.contextTokens).toBe(120)
    expect(summed.items.map((item) => item.kind)).toEqual(['user', 'assistant', 'compaction'])
    expect(summed.items.at(-1)).toMatchObject({ summary: 'In short', focus: 'files' })
    const shown = play([event(null, { type: 'context.usage', used: 300, max: 1000, ratio: 0.3 })], summed)
    expect(shown.contextTokens).toBe(300)
  })

  it('says nothing of old results that the model reads one line of, but how full the context is by then', () => {
    const fields = { kind: 'micro', before: 900, after: 500, through_seq: 1, summary: '', focus: null }
    const shortened = play([event(1, { type: 'context.compacted', transcript: null, ...fields })])
    expect(shortened.items).toEqual([])
    expect(shortened.contextTokens).toBe(500)
  })
})
