import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { activityOf } from './activity'
import { reduce } from './reducer'
import { emptyTranscript } from './transcript'

const second = (number: number): string => `2026-01-01T00:00:0${number}Z`
const stored = (seq: number, fields: object): WireEvent =>
  ({ session_id: 's', run_id: 'r', at: second(seq), seq, ...fields }) as unknown as WireEvent
const called = (seq: number, needsComputer = true): WireEvent =>
  stored(seq, {
    type: 'tool.called',
    call_id: `c${seq}`,
    name: 'anything',
    arguments: {},
    phrase: '',
    needs_computer: needsComputer,
    seen_seq: 0,
  })
const computer = (seq: number, status: string): WireEvent =>
  stored(seq, { type: 'sandbox.updated', status, reason: null, has_desktop: true, queue_position: null })
const begun = (...events: WireEvent[]): unknown[] =>
  events.reduce(reduce, emptyTranscript).items.flatMap((item) => (item.kind === 'tool' ? [item.startedAt] : []))

describe('the time of a call', () => {
  it('begins when the computer it runs on is there', () => {
    const events = [called(1), computer(2, 'starting')]
    expect(begun(...events)).toEqual([null])
    expect(begun(...events, computer(3, 'failed'))).toEqual([null])
    expect(begun(...events, computer(3, 'ready'), called(4))).toEqual([second(3), second(4)])
  })
  it('does not begin where there is no computer yet, or none any more', () => {
    expect(begun(called(1))).toEqual([null])
    expect(begun(called(1), computer(2, 'ready'))).toEqual([second(2)])
    expect(begun(computer(1, 'gone'), called(2))).toEqual([null])
    expect(begun(computer(1, 'ready'), called(2), computer(3, 'gone'))).toEqual([second(2)])
  })
  it('begins at once on one that is there, also asleep', () => {
    expect(begun(computer(1, 'ready'), called(2))).toEqual([second(2)])
    expect(begun(computer(1, 'paused'), called(2))).toEqual([second(2)])
  })
  it('does not begin while the computer is on its way already', () => {
    expect(begun(computer(1, 'starting'), called(2))).toEqual([null])
  })
  it('goes on for what needs no computer', () => {
    expect(begun(called(1, false), computer(2, 'starting'), called(3, false))).toEqual([second(1), second(3)])
  })
})

describe('while a person controls the computer', () => {
  const run = stored(2, { type: 'run.started', model: 'm', message_id: 'u', worker: 'w', attempt: 1 })
  const taken = stored(4, { type: 'control.taken', client: 'x', holder: 'you' })
  const back = stored(7, { type: 'control.returned', client: 'x', by: 'person', note: null })
  const state = (...events: WireEvent[]) => [computer(1, 'ready'), ...events].reduce(reduce, emptyTranscript)

  it('what is called waits until they hand it back, and only then takes time', () => {
    const waiting = state(run, called(3), taken, called(5), called(6, false))
    expect(waiting.items.map((item) => item.kind === 'tool' && item.startedAt)).toEqual([second(3), null, null])
    expect(activityOf(waiting).kind).toBe('held')
    const after = state(run, called(3), taken, called(5), called(6, false), back)
    expect(after.items.map((item) => item.kind === 'tool' && item.startedAt)).toEqual([second(3), second(7), second(7)])
    expect([activityOf(after).kind, after.computer.driver]).toEqual(['working', null])
  })
  it('the run takes no time of it either', () => {
    const ended = stored(9, { ...{ type: 'run.finished', status: 'completed', reason: null }, duration_ms: 8000 })
    const at = (event: WireEvent, seq: number) => ({ ...event, seq }) as WireEvent
    const told = { ...at(ended, 6), retryable: false, files: [], usage: {} } as unknown as WireEvent
    expect(state(run, at(taken, 3), called(4), at(back, 5), told).items.at(-1)).toMatchObject({
      kind: 'end',
      durationMs: 5000,
    })
    expect(activityOf(state(run, called(3), taken)).kind).toBe('working')
  })
})

describe('a call that is ended with its run', () => {
  const outcome = (...events: WireEvent[]): unknown[] =>
    events
      .reduce(reduce, emptyTranscript)
      .items.flatMap((item) => (item.kind === 'tool' ? [[item.outcome, item.durationMs]] : []))
  const result = { type: 'tool.finished', success: false, cancelled: true, preview: 'Stopped.', duration_ms: 9 }
  const cut = (seq: number, callId: string, hasBegun = true): WireEvent =>
    stored(seq, { ...result, call_id: callId, has_begun: hasBegun })

  it('was not run where its computer never came', () => {
    expect(outcome(called(1), computer(2, 'starting'), cut(3, 'c1'))).toEqual([['skipped', null]])
    expect(outcome(called(1), cut(2, 'c1'))).toEqual([['skipped', null]])
  })
  it('was not run where the server says that it had not begun', () => {
    expect(outcome(computer(1, 'ready'), called(2), cut(3, 'c2', false))).toEqual([['skipped', null]])
  })
  it('was stopped where that was there', () => {
    expect(outcome(called(1), computer(2, 'ready'), cut(3, 'c1'))).toEqual([['cut', 9]])
    expect(outcome(called(1, false), cut(2, 'c1'))).toEqual([['cut', 9]])
  })
})
