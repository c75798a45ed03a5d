import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { withModelCall, type ModelCall } from './modelCalls'

const head = { at: '2026-11-24T00:00:00.000Z', session_id: 's', run_id: 'r' }
const usage = { input: 10, cached: 4, output: 2, thinking: 0, cache_write: 0, new: 12, cost: null, known_cost: 0 }

function asked(seq: number, number: number, given: object = {}): WireEvent {
  const fields = { number, role: 'agent', model: 'm', provider: 'p', turn_count: 1, digest: 'd', payload: null }
  return { ...head, seq, type: 'llm.request', ...fields, body: null, extends: [], ...given } as unknown as WireEvent
}
function answered(seq: number, number: number, given: object = {}): WireEvent {
  const fields = {
    number,
    role: 'agent',
    model: 'm',
    outcome: 'stop',
    usage,
    duration_ms: 5,
    first_ms: 2,
    payload: null,
  }
  const rest = { body: null, code: null, error: null, attempts: [] }
  return { ...head, seq, type: 'llm.response', ...fields, ...rest, ...given } as unknown as WireEvent
}
const other = (type: string): WireEvent => ({ ...head, seq: 9, type }) as unknown as WireEvent
const play = (...events: WireEvent[]): readonly ModelCall[] => events.reduce(withModelCall, [] as readonly ModelCall[])

describe('model calls', () => {
  it('are paired by their number, also where agents work side by side', () => {
    const calls = play(asked(1, 1), asked(2, 2, { agent_id: 'a', role: 'subagent' }), answered(3, 2), answered(4, 1))
    expect(calls.map(({ agentId, response }) => [agentId, response?.seq])).toEqual([
      [null, 4],
      ['a', 3],
    ])
  })
  it.each(['run.started', 'run.finished'])('without an answer are lost once %s says that nobody is at it', (type) => {
    const calls = play(asked(1, 1), answered(2, 1), asked(3, 2), other(type), asked(10, 3))
    expect(calls.map(({ isLost }) => isLost)).toEqual([false, true, false])
  })
  it('for titles are numbered by themselves', () => {
    const calls = play(asked(1, 1), asked(2, 1, { role: 'title' }), answered(3, 1, { role: 'title' }))
    expect(calls.map(({ response }) => response?.seq)).toEqual([undefined, 3])
  })
  it('say of each part whether it is kept', () => {
    const [first, second] = play(asked(1, 1), answered(2, 1, { omitted: 'limit' }), asked(3, 2, { omitted: 'limit' }))
    expect([first?.isKept, first?.response?.isKept, second?.isKept]).toEqual([true, false, false])
  })
  it('pass over what is none of theirs, and an answer to nothing', () => {
    const calls = play(asked(1, 1, { extends: [1] }))
    expect(withModelCall(calls, other('message.completed'))).toBe(calls)
    expect(withModelCall(calls, answered(2, 7))).toBe(calls)
    expect(calls[0]?.hasEarlier).toBe(true)
  })
})
