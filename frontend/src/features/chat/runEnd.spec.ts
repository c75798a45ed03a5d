import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { reduce } from './reducer'
import { emptyTranscript, type Transcript } from './transcript'

const usage = { input: 1, cached: 0, output: 2, thinking: 0, cache_write: 0, cost: null, known_cost: 0, by_model: {} }
const stored = (seq: number, fields: Record<string, unknown>): WireEvent =>
  ({ at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r', seq, ...fields }) as unknown as WireEvent
const play = (events: readonly WireEvent[]): Transcript => events.reduce(reduce, emptyTranscript)
const user = stored(1, {
  type: 'message.user',
  message_id: 'u',
  text: 'hello',
  attachments: [],
  client_message_id: null,
})
const started = stored(2, { type: 'run.started', message_id: 'u', model: 'x', worker: 'w', attempt: 1 })

describe('the end of a run that failed', () => {
  const reason = 'The provider refused the key.'
  const failed = (seq: number): WireEvent =>
    stored(seq, { type: 'run.finished', status: 'failed', reason, retryable: true, usage, files: [], duration_ms: 5 })
  const fault = (seq: number, text = reason): WireEvent =>
    stored(seq, { type: 'error', text, code: 'model_auth', retryable: true })

  it('says its cause once, with the code that has words in every language', () => {
    const { items } = play([user, started, fault(3), failed(4)])
    expect(items.map((item) => item.kind)).toEqual(['user', 'end'])
    expect(items.at(-1)).toMatchObject({ kind: 'end', reason, code: 'model_auth' })
  })
  it('keeps an error that is not its cause', () => {
    const { items } = play([user, started, fault(3, 'Something else.'), failed(4)])
    expect(items.map((item) => item.kind)).toEqual(['user', 'note', 'end'])
    expect(items.at(-1)).toMatchObject({ code: null })
  })
})
