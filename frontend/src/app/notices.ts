import type { Session } from '@/api/types'

export type NoticeKind = 'waiting' | 'finished'
export interface Notice {
  readonly session: Session
  readonly kind: NoticeKind
}
export type Statuses = ReadonlyMap<string, Session['status']>

export function statusesOf(sessions: readonly Session[]): Statuses {
  return new Map(sessions.map(({ id, status }) => [id, status]))
}

/** In which conversations a run came to wait for the person, or ended. Of one that was not known before nothing is told. */
export function noticesOf(before: Statuses, now: readonly Session[]): Notice[] {
  return now.flatMap((session): Notice[] => {
    const was = before.get(session.id)
    if (was === undefined || was === session.status) return []
    if (session.status === 'waiting') return [{ session, kind: 'waiting' }]
    return session.status === 'idle' ? [{ session, kind: 'finished' }] : []
  })
}
