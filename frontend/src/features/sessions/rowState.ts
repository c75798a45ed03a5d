import type { Session } from '@/api/types'

/** What a conversation is in the list; one that is queued works soon. */
export type RowState = 'waiting' | 'running' | 'queued' | 'failed' | 'unread' | 'quiet'

/** What asks most for the person comes first. What is on screen is read. */
export function rowState({ status, unread, failed }: Session, isShown: boolean): RowState {
  if (status !== 'idle') return status
  if (unread === 0 || isShown) return 'quiet'
  return failed ? 'failed' : 'unread'
}
