import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
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
    expect(begun(...events, computer(3, 'ready'), called(4))).toEqual([second(3), second(4)])
  })
  it('does not begin while the computer is on its way already', () => {
    expect(begun(computer(1, 'starting'), called(2))).toEqual([null])
  })
  it('goes on for what needs no computer', () => {
    expect(begun(called(1, false), computer(2, 'starting'), called(3, false))).toEqual([second(1), second(3)])
  })
})
