import { recallJson, remember } from '@/shared/lib/storage'

/** A message the server has not confirmed yet. Its id stays the same over resends, so none is ever doubled. */
export interface Pending {
  readonly clientMessageId: string
  readonly text: string
  readonly attachments: readonly string[]
  /** Sent to cut a running answer. Kept over resends, as the id is. */
  readonly interrupt?: boolean
  readonly state: 'sending' | 'failed'
  readonly problem?: string
}

const key = (sessionId: string): string => `outbox:${sessionId}`
const isPendingList = (value: unknown): value is Pending[] =>
  Array.isArray(value) &&
  value.every((entry: unknown) => typeof entry === 'object' && entry !== null && 'clientMessageId' in entry)

export function recallOutbox(sessionId: string): Pending[] {
  return recallJson(key(sessionId), isPendingList, [])
}

export function keepOutbox(sessionId: string, pending: readonly Pending[]): void {
  remember(key(sessionId), pending.length > 0 ? JSON.stringify(pending) : null)
}
