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

it.each([
  ['silent', 'silent'],
  ['max_turns', null],
])('knows of the notice %s of a run that ended well as %s', (code, known) => {
  const notice = stored(3, { type: 'notice', text: '', code, params: {} })
  const told = { status: 'completed', reason: null, usage, files: [], duration_ms: 5 }
  const { items } = play([user, started, notice, stored(4, { type: 'run.finished', ...told })])
  expect(items.map((item) => item.kind)).toEqual(['user', 'note', 'end'])
  expect(items.at(-1)).toMatchObject({ code: known })
})

describe('the end of a run that was stopped', () => {
  const end = (seq: number): WireEvent =>
    stored(seq, { type: 'run.finished', status: 'stopped', reason: null, usage, files: [], duration_ms: 5 })
  const answer = stored(4, { type: 'message.completed', message_id: 'a', text: 'half', partial: true, seen_seq: 1 })
  const later = (seq: number): WireEvent => ({ ...user, seq, message_id: `u${seq}` }) as WireEvent
  const kinds = (...events: WireEvent[]) => play(events).items.map((item) => item.kind)

  it('stands above what was said to it and not read any more', () => {
    expect(kinds(user, started, later(3), answer, end(5))).toEqual(['user', 'assistant', 'end', 'user'])
    expect(kinds(user, started, later(3), { ...answer, seen_seq: 3 } as WireEvent, end(5))).toEqual([
      'user',
      'user',
      'assistant',
      'end',
    ])
  })
  it('stands below what it was to do where nothing was done', () => {
    expect(kinds(user, end(2))).toEqual(['user', 'end'])
    expect(kinds(user, started, later(3), answer, end(5), later(6), end(7)).slice(-2)).toEqual(['user', 'end'])
  })
})

describe('the time of a run', () => {
  const at = (seq: number, second: number, fields: Record<string, unknown>): WireEvent =>
    stored(seq, { ...fields, at: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z` })
  const asked = { type: 'question.asked', question_id: 'q', call_id: 'c', questions: [], expires_at: null }
  const answered = { type: 'question.answered', question_id: 'q', answers: {}, by: 'user' }
  const queued = { type: 'run.queued', message_id: null, cause: 'answer' }
  const goesOn = { type: 'run.started', message_id: 'u', model: 'x', worker: 'w', attempt: 2 }
  const end = { type: 'run.finished', status: 'completed', reason: null, usage, files: [], duration_ms: 50_000 }
  const durationOf = (events: readonly WireEvent[]) => {
    const item = play(events).items.at(-1)
    return item?.kind === 'end' ? item.durationMs : null
  }

  it('is that of its work, without what it waited for the person', () => {
    const first = [user, started, at(3, 2, asked), at(4, 32, answered), at(5, 32, queued), at(6, 33, goesOn)]
    expect(durationOf([...first, at(7, 50, end)])).toBe(19_000)
    const again = [at(7, 35, asked), at(8, 45, answered), at(9, 45, queued), at(10, 45, goesOn)]
    expect(durationOf([...first, ...again, at(11, 50, end)])).toBe(9_000)
  })
  it('has no wait of another run, and ends with a wait that it was stopped in', () => {
    const first = [user, started, at(3, 2, asked)]
    expect(durationOf([...first, at(4, 50, end)])).toBe(2_000)
    const other = { ...at(5, 50, end), run_id: 'r2' } as WireEvent
    expect(durationOf([...first, at(4, 50, end), other])).toBe(50_000)
  })
})
