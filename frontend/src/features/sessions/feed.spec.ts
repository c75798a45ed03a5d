import { describe, expect, it } from 'vitest'
import type { FeedEvent } from '@/api/types'
import { applyFeed, emptyList, type SessionList } from './feed'

const at = '2026-01-01T00:00:00Z'
const fields = {
  title: 'One',
  status: 'idle' as const,
  model: null,
  preset: null,
  options: {},
  pinned: false,
  archived: false,
  created_at: at,
  updated_at: at,
  active_at: at,
  last_seq: 0,
  read_seq: 0,
  unread: 0,
  failed: false,
  sandbox: null,
}
const made = (seq: number, id: string, title = 'One'): FeedEvent => ({
  ...fields,
  type: 'session.created',
  seq,
  at,
  session_id: id,
  title,
})
const changed = (seq: number, id: string, told: object, when = at): FeedEvent => ({
  type: 'session.updated',
  seq,
  at: when,
  session_id: id,
  ...told,
})
const play = (events: FeedEvent[], from: SessionList = emptyList): SessionList => events.reduce(applyFeed, from)
const titles = (list: SessionList): string[] => [...list.byId.values()].map((session) => session.title)

describe('the feed of conversations', () => {
  it('makes, changes and removes them, and remembers how far it came', () => {
    const later = '2026-01-02T00:00:00Z'
    const list = play([
      { type: 'feed.started', seq: 4, at },
      made(5, 'a'),
      made(6, 'b', 'Two'),
      changed(7, 'a', { status: 'running', unread: 2, active_at: later }, later),
      { type: 'session.deleted', seq: 8, at, session_id: 'b' },
    ])
    expect(list.cursor).toBe(8)
    expect([...list.byId.values()]).toMatchObject([
      { ...fields, id: 'a', status: 'running', unread: 2, active_at: later },
    ])
  })
  it('tells nothing twice', () => {
    const list = play([{ type: 'feed.started', seq: 4, at }, made(5, 'a'), changed(6, 'a', { title: 'New' })])
    expect(applyFeed(list, changed(6, 'a', { title: 'Old' }))).toBe(list)
    expect(applyFeed(list, made(5, 'a'))).toBe(list)
  })
  it('moves nobody up for having read', () => {
    const list = play([made(1, 'a'), changed(2, 'a', { unread: 0, read_seq: 9 }, '2027-01-01T00:00:00Z')])
    expect(list.byId.get('a')).toMatchObject({ read_seq: 9, active_at: at })
  })
  it('asks for a conversation it has not got', () => {
    expect([...play([changed(3, 'far', { status: 'running' })]).wanted]).toEqual(['far'])
  })
  it('takes the whole list anew after too long a silence, at once and only when all of it is there', () => {
    const before = play([{ type: 'feed.started', seq: 4, at }, made(5, 'gone', 'Gone'), made(6, 'kept', 'Kept')])
    const half = play(
      [
        { type: 'feed.reset', seq: null, at },
        { ...fields, type: 'session.snapshot', seq: null, at, session_id: 'kept', title: 'Renamed' },
      ],
      before,
    )
    expect(titles(half)).toEqual(['Gone', 'Kept'])
    const whole = play([{ type: 'feed.ready', seq: 90, at }], half)
    expect(titles(whole)).toEqual(['Renamed'])
    expect(whole.cursor).toBe(90)
  })
  it('takes no half of the whole list from one that began before it listened', () => {
    const before = play([{ type: 'feed.started', seq: 4, at }, made(5, 'a'), made(6, 'b', 'Two')])
    const list = play(
      [
        { ...fields, type: 'session.snapshot', seq: null, at, session_id: 'b', title: 'Two' },
        { type: 'feed.ready', seq: 90, at },
      ],
      before,
    )
    expect(titles(list)).toEqual(['One', 'Two'])
  })
})
