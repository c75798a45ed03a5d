import { describe, expect, it } from 'vitest'
import type { FeedEvent, Session, WireEvent } from '@/api/types'
import { knownFrom, withAnswer, withChange, withEvent } from './known'

const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`
const session = (lastSeq: number, second: number, fields: Partial<Session> = {}): Session => ({
  id: 's',
  title: '',
  status: 'idle',
  model: null,
  preset: null,
  options: {},
  pinned: false,
  archived: false,
  created_at: at(0),
  updated_at: at(second),
  active_at: at(0),
  last_seq: lastSeq,
  read_seq: 0,
  unread: 0,
  failed: false,
  sandbox: null,
  ...fields,
})
const change = (fields: object, second = 9) =>
  ({ type: 'session.updated', seq: 1, at: at(second), session_id: 's', ...fields }) as Extract<
    FeedEvent,
    { type: 'session.updated' }
  >
const event = (seq: number, type: string, fields: object = {}): WireEvent =>
  ({ seq, type, at: at(seq), session_id: 's', run_id: 'r', ...fields }) as unknown as WireEvent

describe('a session told by answers', () => {
  it('is never set back by one that was read earlier', () => {
    const running = withAnswer(knownFrom(session(3, 3)), session(5, 5, { status: 'running' }))
    expect(withAnswer(running, session(3, 3)).status).toBe('running')
    expect(withAnswer(running, session(5, 6, { status: 'running', title: 'New' })).title).toBe('New')
  })
  it('is never set back behind what its stream told', () => {
    const finished = withEvent(knownFrom(session(4, 4, { status: 'running' })), event(5, 'run.finished'))
    expect(withAnswer(finished, session(4, 4, { status: 'running' })).status).toBe('idle')
    expect(withEvent(finished, event(5, 'run.started')).status).toBe('idle')
  })
  it('keeps a title that was changed since', () => {
    const renamed = withChange(knownFrom(session(4, 4)), change({ title: 'Mine', updated_at: at(7) }, 7))
    expect(withAnswer(renamed, session(4, 4)).title).toBe('Mine')
    expect(withAnswer(renamed, session(6, 6)).title).toBe('Mine')
    expect(withAnswer(renamed, session(6, 8, { title: 'Theirs' })).title).toBe('Theirs')
  })
  it('stays read, and is counted anew when more was said', () => {
    const read = withAnswer(knownFrom(session(5, 5, { unread: 2 })), session(5, 5, { read_seq: 5 }))
    expect(withAnswer(read, session(5, 5, { unread: 2 }))).toMatchObject({ read_seq: 5, unread: 0 })
    expect(withAnswer(read, session(7, 7, { read_seq: 5, unread: 1 })).unread).toBe(1)
  })
})

describe('when something was said last in a session', () => {
  it('is told by the feed and its own messages, and by nothing else that changes', () => {
    const known = knownFrom(session(4, 4))
    expect(withEvent(known, event(5, 'message.user')).active_at).toBe(at(5))
    expect(withChange(known, change({ unread: 1, last_seq: 6, active_at: at(6) })).active_at).toBe(at(6))
    expect(withChange(known, change({ sandbox: 'gone', last_seq: 6, updated_at: at(6) })).active_at).toBe(at(0))
    expect(withChange(known, change({ status: 'idle', last_seq: 6, updated_at: at(6) })).active_at).toBe(at(0))
    expect(withEvent(known, event(5, 'sandbox.updated', { status: 'gone' })).active_at).toBe(at(0))
    expect(withEvent(known, event(5, 'session.updated', { title: 'Mine' })).active_at).toBe(at(0))
    expect(withAnswer(known, session(6, 6)).active_at).toBe(at(0))
  })
  it('never goes back, also where the rest of what is told is older', () => {
    const said = withEvent(knownFrom(session(8, 8)), event(9, 'message.user'))
    expect(withAnswer(said, session(8, 8, { active_at: at(7) })).active_at).toBe(at(9))
    expect(withChange(said, change({ last_seq: 6, active_at: at(6) })).active_at).toBe(at(9))
    expect(withAnswer(said, session(8, 8, { active_at: at(12) })).active_at).toBe(at(12))
  })
})

describe('a session told by the feed', () => {
  it('is not set back by what an answer or its stream knew before', () => {
    const known = knownFrom(session(8, 8, { status: 'idle', title: 'Now' }))
    expect(withChange(known, change({ status: 'running', last_seq: 6, updated_at: at(6) })).status).toBe('idle')
    expect(withChange(known, change({ title: 'Before', updated_at: at(7) })).title).toBe('Now')
    expect(withChange(known, change({ status: 'running', last_seq: 9, updated_at: at(9) }))).toMatchObject({
      status: 'running',
      last_seq: 9,
    })
  })
  it('counts as unread only what came after what was read and counted', () => {
    const known = knownFrom(session(8, 8, { read_seq: 6, unread: 1 }))
    expect(withChange(known, change({ unread: 3, last_seq: 5 })).unread).toBe(1)
    expect(withChange(known, change({ unread: 4, last_seq: 7 })).unread).toBe(1)
    expect(withChange(known, change({ unread: 2, last_seq: 9 })).unread).toBe(2)
    expect(withChange(known, change({ read_seq: 8, unread: 0 })).unread).toBe(0)
    expect(withChange(known, change({ read_seq: 4, unread: 3 }))).toMatchObject({ read_seq: 6, unread: 1 })
  })
  it('hears of unread messages also where the stream came first', () => {
    const streamed = withEvent(knownFrom(session(8, 8)), event(9, 'message.completed'))
    const further = withEvent(streamed, event(10, 'run.finished'))
    expect(withChange(further, change({ unread: 1, last_seq: 9, updated_at: at(9) })).unread).toBe(1)
  })
  it('has failed from the end of its run on, by whichever tells it, until that is read', () => {
    const streamed = withEvent(knownFrom(session(8, 8)), event(9, 'run.finished', { status: 'failed' }))
    expect(streamed.failed).toBe(true)
    expect(withEvent(streamed, event(10, 'run.finished', { status: 'completed' })).failed).toBe(false)
    const told = withChange(knownFrom(session(8, 8)), change({ failed: true, unread: 1, last_seq: 9 }))
    expect(told.failed).toBe(true)
    expect(withChange(told, change({ read_seq: 9, unread: 0, failed: false })).failed).toBe(false)
  })
})
