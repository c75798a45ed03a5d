import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { reduce } from './reducer'
import { allCalls, titleOf } from './subagents'
import { emptyTranscript, type ToolItem, type Transcript } from './transcript'

type Loose = { type: WireEvent['type'] } & Record<string, unknown>
const base = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const usage = { input: 1, cached: 0, output: 2, thinking: 0, cache_write: 0, cost: null, known_cost: 0, by_model: {} }
let seq = 0
const stored = (fields: Loose): Loose => fields
const numbered = (events: readonly Loose[]): WireEvent[] =>
  events.map((fields) => ({ ...base, ...fields, seq: (seq += 1) }) as unknown as WireEvent)
const play = (...events: Loose[]): Transcript => {
  seq = 0
  return numbered(events).reduce(reduce, emptyTranscript)
}

const agent = { agent_id: 'agent_t' }
const started = stored({ type: 'run.started', message_id: 'u', model: 'x', worker: 'w', attempt: 1 })
const called = (call: string, name: string, by: object = {}): Loose =>
  stored({
    type: 'tool.called',
    call_id: call,
    name,
    arguments: {},
    phrase: name,
    parent_call_id: null,
    needs_computer: false,
    read_only: true,
    asks: false,
    turn: 0,
    seen_seq: 0,
    ...by,
  })
const done = (call: string, by: object = {}): Loose =>
  stored({
    type: 'tool.finished',
    call_id: call,
    success: true,
    preview: `result of ${call}`,
    cancelled: false,
    body: null,
    duration_ms: 7,
    display: null,
    ...by,
  })
const said = (text: string, by: object = {}): Loose =>
  stored({ type: 'message.completed', message_id: text, text, turn: 0, partial: false, seen_seq: 3, ...by })
const begins = stored({
  type: 'subagent.started',
  subagent_id: 'agent_t',
  kind: 'general',
  task: 'find it',
  parent_call_id: 't',
})
const end = stored({
  type: 'run.finished',
  run_id: 'r',
  status: 'stopped',
  reason: null,
  retryable: false,
  usage,
  files: [],
  duration_ms: 5,
})

function card({ items }: Transcript): ToolItem {
  const item = items.find((one) => one.kind === 'tool')
  if (item?.kind !== 'tool') throw new Error('no call')
  return item
}

function textOf(item: ToolItem['inner'][number]): string {
  return item.kind === 'assistant' ? item.text : item.kind
}

describe('an agent that works on a call', () => {
  it('says and calls what it does in that call, and nowhere else', () => {
    const state = play(
      started,
      called('t', 'task'),
      begins,
      said('I look', agent),
      called('c', 'look', agent),
      done('c', agent),
      said('Found.', agent),
      done('t'),
      said('All done.'),
    )
    expect(state.items.map((item) => item.kind)).toEqual(['tool', 'assistant'])
    expect(card(state).inner.map((one) => (one.kind === 'tool' ? [one.name, one.outcome] : textOf(one)))).toEqual([
      'I look',
      ['look', 'succeeded'],
      'Found.',
    ])
  })
  it('is of the kind it began with, whatever the name of that is', () => {
    for (const kind of ['general', 'baker'])
      expect(card(play(started, called('t', 'task'), { ...begins, kind })).agentKind).toBe(kind)
  })
  it('is named by what it was given, also in a conversation of before', () => {
    const given = (fields: object) => titleOf({ arguments: fields, phrase: 'Handing on' } as ToolItem)
    expect([given({ description: 'count' }), given({ title: 'count' }), given({})]).toEqual([
      'count',
      'count',
      'Handing on',
    ])
  })
  it('shows what its calls write', () => {
    const state = play(started, called('t', 'task'), begins, called('c', 'look', agent))
    const live = {
      ...base,
      seq: null,
      type: 'tool.output',
      call_id: 'c',
      offset: 0,
      text: 'abc',
    } as unknown as WireEvent
    const [inner] = card(reduce(state, live)).inner
    expect(inner?.kind === 'tool' && inner.output).toBe('abc')
  })
  it('is cut with the run', () => {
    const state = play(started, called('t', 'task'), begins, called('c', 'look', agent), end)
    expect(card(state).outcome).toBe('cut')
    expect(card(state).inner.map((one) => one.kind === 'tool' && one.outcome)).toEqual(['cut'])
  })
  it('asks where its work stands, and its call runs once that is approved', () => {
    const calls = [{ call_id: 'c', name: 'write', arguments: {} }]
    const asks = [
      called('c', 'write', { ...agent, asks: true }),
      stored({ type: 'approval.requested', approval_id: 'a', calls, expires_at: null, ...agent }),
    ]
    const decided = { call_ids: ['c'], decision: 'approve', feedback: null, by: 'user' }
    const goesOn = [
      stored({ type: 'approval.resolved', approval_id: 'a', ...decided, ...agent }),
      stored({ type: 'run.queued', message_id: null, cause: 'answer' }),
      started,
      stored({ type: 'tool.started', call_id: 'c', ...agent }),
    ]
    const waiting = play(started, called('t', 'task'), begins, ...asks)
    expect(waiting.run?.status).toBe('waiting')
    expect(waiting.items.map((item) => item.kind)).toEqual(['tool'])
    expect(card(waiting).inner.map((one) => one.kind)).toEqual(['tool', 'approval'])
    const [, asked] = card(waiting).inner
    expect(asked?.kind === 'approval' && [asked.approvalId, asked.decided]).toEqual(['a', {}])
    const running = play(started, called('t', 'task'), begins, ...asks, ...goesOn)
    const [call, answered] = card(running).inner
    expect(call?.kind === 'tool' && call.outcome).toBe('running')
    expect(answered?.kind === 'approval' && answered.decided['c']?.decision).toBe('approve')
    expect(running.run?.status).toBe('running')
  })
  it('reads nothing of the person, and its tokens are the run`s', () => {
    const state = play(started, called('t', 'task'), begins, said('x', agent), {
      type: 'usage.updated',
      usage,
      ...agent,
    })
    expect(state.readSeq).toBe(1)
    expect(state.usage).toEqual(usage)
  })
  it('never changes what stands of the main one, whatever it does', () => {
    const main = [started, called('t', 'task'), begins, done('t'), said('All done.')]
    const inner = fc.constantFrom(said('x', agent), called('c', 'look', agent), done('c', agent), {
      type: 'notice' as const,
      text: 'n',
      code: null,
      params: {},
      ...agent,
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(inner, fc.integer({ min: 3, max: 5 })), { maxLength: 12 }), (others) => {
        const mixed = main.flatMap((one, at) => [...others.filter(([, to]) => to === at).map(([event]) => event), one])
        const outer = (state: Transcript): unknown[] => state.items.map((item) => ({ ...item, key: '', inner: [] }))
        expect(outer(play(...mixed))).toEqual(outer(play(...main)))
      }),
    )
  })
})

it('counts what other agents call among the calls, behind the one they work on', () => {
  const call = (callId: string, inner: object[] = []) => ({ kind: 'tool', callId, inner })
  const items = [call('a', [call('b'), { kind: 'assistant' }, call('c', [call('d')])]), { kind: 'user' }, call('e')]
  const found = allCalls(items as unknown as Transcript['items'])
  expect(found.map(({ callId }) => callId)).toEqual(['a', 'b', 'c', 'd', 'e'])
})
