import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { activeFrom, isAskedPicture, saidOnce, shownItems } from './order'
import { reduce } from './reducer'
import { emptyTranscript, type Item } from './transcript'

const base = { at: '2026-01-01T00:00:00.000Z', session_id: 's', run_id: 'r' }
const user = (seq: number, text: string) => ({
  ...base,
  seq,
  type: 'message.user',
  message_id: `u${seq}`,
  text,
  attachments: [],
  client_message_id: null,
})
const started = { ...base, seq: 2, type: 'run.started', message_id: 'u1', model: 'm', worker: 'w', attempt: 1 }
const notice = { ...base, seq: 3, type: 'notice', text: 'Cut.', code: 'length', params: {} }
const said = { type: 'message.completed', message_id: 'm', text: 'long', turn: 1, partial: true, seen_seq: 1 }
const piece = (text: string, seenSeq: number) => ({
  ...base,
  seq: null,
  type: 'message.delta',
  message_id: 'm',
  offset: 0,
  text,
  seen_seq: seenSeq,
})

it.each([
  [1, ['question', 'an answer', 'and this'], 1],
  [3, ['question', 'and this', 'an answer'], 2],
])('puts an answer that begins after a second message behind what it has read, up to %i', (seenSeq, texts, active) => {
  const events = [user(1, 'question'), started, user(3, 'and this'), piece('an answer', seenSeq)]
  const shown = shownItems((events as unknown as WireEvent[]).reduce(reduce, emptyTranscript))
  expect(shown.map((item) => ('text' in item ? item.text : item.kind))).toEqual(texts)
  expect(activeFrom(shown)).toBe(active)
})

it('puts all that was done before a message was read above it, whatever else came since', () => {
  const thought = { ...base, seq: 4, type: 'thinking.completed', message_id: 'm', text: 'hm', turn: 1, seen_seq: 1 }
  const events = [user(1, 'question'), started, user(3, 'and this'), thought]
  const told = { ...notice, seq: 5, code: 'other' }
  const all = [...events, told, { ...base, ...said, seq: 6 }] as unknown as WireEvent[]
  const { items } = all.reduce(reduce, emptyTranscript)
  expect(items.map(({ kind }) => kind)).toEqual(['user', 'thinking', 'assistant', 'user', 'note'])
})

it('puts an answer that was cut at its limit before the note that says so', () => {
  const events = [user(1, 'question'), started, notice, { ...base, ...said, seq: 4 }]
  const { items } = (events as unknown as WireEvent[]).reduce(reduce, emptyTranscript)
  expect(items.map(({ kind }) => kind)).toEqual(['user', 'assistant', 'note'])
})

describe('a call that a card tells of', () => {
  const tool = (callId: string) => ({ kind: 'tool', key: callId, callId }) as Item
  const approvalOf = (calls: string[], decided: object) =>
    ({ kind: 'approval', calls: calls.map((callId) => ({ call_id: callId })), decided }) as Item
  const approval = (decided: object) => approvalOf(['a', 'b'], decided)
  const shown = (...items: Item[]) => saidOnce(items).map((item) => (item.kind === 'tool' ? item.callId : item.kind))

  it('is not shown beside a question or plan', () => {
    const question = { kind: 'question', callId: 'a' } as Item
    const plan = { kind: 'plan', callId: 'b' } as Item
    expect(shown(tool('a'), question, tool('b'), plan, tool('c'))).toEqual(['question', 'plan', 'c'])
  })
  it('is shown again once it is approved, and not beside what says that it was refused', () => {
    expect(shown(tool('a'), tool('b'), tool('c'), approval({}))).toEqual(['c', 'approval'])
    expect(shown(tool('a'), tool('b'), approval({ a: { decision: 'approve' } }))).toEqual(['a', 'approval'])
    expect(shown(tool('a'), tool('b'), approval({ a: { decision: 'deny' } }))).toEqual(['approval'])
  })
  it('says what was decided of it while others of its approval are not', () => {
    const asks = (callId: string) => ({ kind: 'tool', key: callId, callId, outcome: 'asking' }) as Item
    const runs = { kind: 'tool', key: 'c', callId: 'c', outcome: 'running' } as Item
    const decided = { a: { decision: 'approve' }, c: { decision: 'approve_all' }, d: { decision: 'deny' } }
    const outcomes = saidOnce([asks('a'), runs, asks('d'), approvalOf(['a', 'c', 'd', 'e'], decided)])
    expect(outcomes.map((item) => (item.kind === 'tool' ? item.outcome : ''))).toEqual(['approved', 'running', ''])
  })
})

describe('a picture that was asked for', () => {
  const look = (name = 'browser_view', type = 'image/png') =>
    ({ kind: 'tool', name, body: { media_type: type } }) as unknown as Item
  const answer = { kind: 'assistant', complete: true } as Item
  const end = (status: string) => ({ kind: 'end', status }) as Item

  it('is the last look before the answer of a run that is done', () => {
    const items = [look(), look(), answer, end('completed')]
    expect(items.map((_, at) => isAskedPicture(items, at))).toEqual([false, true, false, false])
  })
  it('is also a figure that code made', () => {
    const code = (...types: string[]) =>
      ({
        kind: 'tool',
        key: 'c',
        name: 'code_run',
        body: null,
        display: { type: 'code', outputs: types.map((type) => ({ type })) },
      }) as unknown as Item
    const opens = (one: Item) => isAskedPicture([one, answer, end('completed')], 0)
    expect([opens(code('text', 'picture')), opens(code('text', 'table'))]).toEqual([true, false])
  })
  it.each([
    ['no picture', [look('browser_view', 'text/plain'), answer, end('completed')]],
    ['of a call that does more', [look('browser_click'), answer, end('completed')]],
    ['followed by other work', [look(), look('shell_exec'), end('completed')]],
    ['of a run that goes on', [look(), answer]],
    ['of a run that was stopped', [look(), end('stopped')]],
  ])('is none where it is %s', (_, items) => {
    expect(isAskedPicture(items, 0)).toBe(false)
  })
})
