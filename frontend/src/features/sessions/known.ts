import type { FeedEvent, Session, WireEvent } from '@/api/types'

/**
 * A session as three sources tell it: answers to requests, the feed of all sessions and the stream of the one on screen.
 * Each says how new it is, and nothing older replaces what is newer, in whichever order they arrive.
 */
export interface KnownSession extends Session {
  /** The newest `updated_at` heard of. */
  readonly told_at: string
  /** The event up to which `unread` was counted. */
  readonly counted_seq: number
}
type Change = Extract<FeedEvent, { type: 'session.updated' }>

const OF_PLACE = ['folder_id', 'target_id', 'sandbox'] as const
const SHOWN = ['title', 'status', 'failed', 'model', 'preset', 'options', 'pinned', 'archived', ...OF_PLACE] as const
const latest = (one: string, other: string): string => (one > other ? one : other)

export function knownFrom(session: Session): KnownSession {
  return { ...session, told_at: session.updated_at, counted_seq: session.last_seq }
}

/** The answer to a request: the whole session as it was when it was read. */
export function withAnswer(known: KnownSession | undefined, answer: Session): KnownSession {
  if (!known) return knownFrom(answer)
  const isOlder = answer.last_seq < known.last_seq || answer.updated_at < known.told_at
  const isReadBefore =
    answer.read_seq < known.read_seq || (answer.read_seq === known.read_seq && answer.last_seq < known.counted_seq)
  const { read_seq, unread, counted_seq } = isReadBefore ? known : knownFrom(answer)
  const active_at = latest(known.active_at, answer.active_at)
  return { ...(isOlder ? known : knownFrom(answer)), read_seq, unread, counted_seq, active_at }
}

/** What the feed tells that changed. */
export function withChange(known: KnownSession, change: Change): KnownSession {
  const { last_seq: seq = known.last_seq, updated_at: at = known.told_at } = change
  const isOlder = seq === known.last_seq ? at < known.told_at : seq < known.last_seq
  const said = { ...readMarker(known, change), active_at: latest(known.active_at, change.active_at ?? '') }
  if (isOlder) return { ...known, ...said }
  const told = Object.fromEntries(SHOWN.flatMap((name) => (change[name] === undefined ? [] : [[name, change[name]]])))
  return { ...known, ...told, ...said, last_seq: seq, told_at: latest(known.told_at, at) }
}

function readMarker(known: KnownSession, change: Change): Partial<KnownSession> {
  const { read_seq, unread = known.unread, last_seq: seq } = change
  if (read_seq !== undefined) return read_seq < known.read_seq ? {} : { read_seq, unread }
  const isOlder = seq !== undefined && (seq <= known.read_seq || seq < known.counted_seq)
  return isOlder ? {} : { unread, counted_seq: seq ?? known.counted_seq }
}

/** What the session's own stream tells. */
export function withEvent(known: KnownSession, event: WireEvent): KnownSession {
  if (event.seq === null || event.seq <= known.last_seq) return known
  const told = { ...known, last_seq: event.seq, told_at: latest(known.told_at, event.at) }
  switch (event.type) {
    case 'session.updated': {
      const { title, model, preset } = event
      const status = event.status as Session['status'] | null | undefined
      const { title: oldTitle, model: oldModel, preset: oldPreset, status: oldStatus } = known
      const said = { title: title ?? oldTitle, model: model ?? oldModel, preset: preset ?? oldPreset }
      return { ...told, ...said, status: status ?? oldStatus, options: event.options ?? known.options }
    }
    case 'run.queued':
      return { ...told, status: known.status === 'running' ? 'running' : 'queued' }
    case 'run.started':
      return { ...told, status: 'running' }
    case 'question.asked':
    case 'approval.requested':
    case 'plan.proposed':
      return { ...told, status: 'waiting' }
    case 'run.finished':
      return { ...told, status: 'idle', failed: event.status === 'failed' || event.status === 'interrupted' }
    case 'message.user':
      return { ...told, active_at: latest(known.active_at, event.at) }
    case 'sandbox.updated':
      return { ...told, sandbox: event.status }
    default:
      return told
  }
}
