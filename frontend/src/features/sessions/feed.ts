import type { FeedEvent, Session } from '@/api/types'
import { knownFrom, withAnswer, withChange, type KnownSession } from './known'

/** The list of conversations as the feed tells it. `gathered` is the new list while all of it is told anew. */
export interface SessionList {
  readonly byId: ReadonlyMap<string, KnownSession>
  readonly cursor: number | null
  readonly gathered: ReadonlyMap<string, Session> | null
  /** Sessions the feed spoke of that are not in the list: they must be fetched. */
  readonly wanted: ReadonlySet<string>
}

export const emptyList: SessionList = { byId: new Map(), cursor: null, gathered: null, wanted: new Set() }

/** Applies one change. A number seen before changes nothing. */
export function applyFeed(list: SessionList, event: FeedEvent): SessionList {
  if (event.seq !== null && list.cursor !== null && event.seq <= list.cursor && event.type !== 'feed.ready') return list
  const moved = event.seq === null ? list : { ...list, cursor: event.seq }
  switch (event.type) {
    case 'feed.started':
      return moved
    case 'feed.reset':
      return { ...moved, gathered: new Map() }
    case 'feed.ready':
      return list.gathered ? { ...moved, byId: whole(list.gathered, list.byId), gathered: null } : moved
    case 'session.snapshot':
      // A page that was opened in the middle has the list from elsewhere, and not what was told before.
      if (!list.gathered) return moved
      return { ...moved, gathered: new Map(list.gathered).set(event.session_id, sessionOf(event)) }
    case 'session.created':
      return list.byId.has(event.session_id)
        ? moved
        : { ...moved, byId: new Map(list.byId).set(event.session_id, knownFrom(sessionOf(event))) }
    case 'session.deleted':
      return { ...moved, byId: without(list.byId, event.session_id) }
    case 'session.updated': {
      const known = list.byId.get(event.session_id)
      if (!known) return { ...moved, wanted: new Set(list.wanted).add(event.session_id) }
      return { ...moved, byId: new Map(list.byId).set(event.session_id, withChange(known, event)) }
    }
    default:
      return unknown(event, moved)
  }
}

function unknown(_event: never, list: SessionList): SessionList {
  return list
}

type Whole = Extract<FeedEvent, { type: 'session.created' | 'session.snapshot' }>

/** All there are, each as new as it is known: an answer may have told more of one than was read for the list. */
function whole(gathered: ReadonlyMap<string, Session>, known: SessionList['byId']): ReadonlyMap<string, KnownSession> {
  return new Map([...gathered].map(([id, session]) => [id, withAnswer(known.get(id), session)]))
}

function sessionOf(event: Whole): Session {
  const { created_at, updated_at, active_at, last_seq, title, status, model, preset, options } = event
  const { pinned, archived, folder_id, target_id, read_seq, unread, failed, sandbox } = event
  const shown = { title, status, model, preset, options, pinned, archived, folder_id, target_id, sandbox }
  return { id: event.session_id, created_at, updated_at, active_at, last_seq, ...shown, read_seq, unread, failed }
}

function without(sessions: SessionList['byId'], id: string): SessionList['byId'] {
  const rest = new Map(sessions)
  rest.delete(id)
  return rest
}
