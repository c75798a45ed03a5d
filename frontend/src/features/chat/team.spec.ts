import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { reduce } from './reducer'
import { titleOf } from './subagents'
import { emptyTranscript, type Item, type ToolItem, type Transcript } from './transcript'

const play = (...events: object[]): Transcript =>
  events
    .map((fields, at) => ({ at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r', ...fields, seq: at + 1 }))
    .reduce((state, event) => reduce(state, event as unknown as WireEvent), emptyTranscript)

const called = (id: string, name: string, by: object = {}) => ({
  type: 'tool.called',
  call_id: id,
  name,
  arguments: {},
  phrase: name,
  parent_call_id: null,
  needs_computer: false,
  asks: false,
  seen_seq: 0,
  ...by,
})
const done = (id: string, by: object = {}) => ({
  type: 'tool.finished',
  call_id: id,
  success: true,
  preview: '',
  cancelled: false,
  body: null,
  duration_ms: 1,
  display: null,
  ...by,
})
const AMY = { agent_id: 'teammate_t' }
const amy = (status: string, by: object = {}) => ({
  type: 'teammate.updated',
  ...AMY,
  name: 'amy',
  role: 'digs',
  status,
  parent_call_id: 't',
  prompt: null,
  reason: null,
  detail: null,
  ...by,
})
const message = (sender: string, recipients: string[], content: string) => ({
  type: 'team.message',
  message_id: content,
  sender,
  recipients,
  content,
  msg_type: 'message',
  request_id: null,
  approve: null,
})
const begun = [called('t', 'spawn_teammate'), done('t'), amy('working', { prompt: 'dig' })]
const card = (items: readonly Item[]): ToolItem => items.find((item): item is ToolItem => item.kind === 'tool')!

describe('a team', () => {
  it('stands in the call that began each of it, with what it is at', () => {
    const { items } = play(...begun, called('w', 'dig', AMY), done('w', AMY), amy('idle'))
    expect(items).toHaveLength(1)
    expect(card(items).teammate).toMatchObject({ name: 'amy', role: 'digs', status: 'idle', reason: null })
    expect(card(items).inner.map((one) => one.kind === 'tool' && one.callId)).toEqual(['w'])
    expect(titleOf(card(items))).toBe('amy')
    const left = play(...begun, amy('left', { reason: 'failed' }))
    expect(card(left.items).teammate).toMatchObject({ status: 'left', reason: 'failed' })
  })

  it('has each message where its readers are', () => {
    const bob = [
      called('b', 'spawn_teammate'),
      done('b'),
      { ...amy('working'), agent_id: 'teammate_b', name: 'bob', parent_call_id: 'b' },
    ]
    const { items } = play(...begun, ...bob, message('amy', ['lead', 'bob'], 'hi'), message('lead', ['amy'], 'dig on'))
    const read = (inner: readonly { kind: string }[]) =>
      inner.filter((one) => one.kind === 'team').map((one) => (one as unknown as { content: string }).content)
    expect(read(items)).toEqual(['hi'])
    expect(read(card(items).inner)).toEqual(['dig on'])
    expect(read((items[1] as ToolItem).inner)).toEqual(['hi'])
  })

  it('has a call of one asked for where it stands', () => {
    const asks = called('w', 'dig', { ...AMY, asks: true })
    const approval = { type: 'approval.requested', ...AMY, approval_id: 'a', calls: [], expires_at: null }
    const { items } = play(...begun, asks, approval)
    expect(card(items).inner.map((one) => one.kind)).toEqual(['tool', 'approval'])
  })

  it('tells of nobody whom it does not know', () => {
    const { items } = play(amy('working'), message('amy', ['bob'], 'hi'))
    expect(items).toEqual([])
  })
})
