import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { MessageAnswer } from '@/api/types'
import { createId } from '@/shared/lib/ids'
import { outboxOf, recallJson, remember } from '@/shared/lib/storage'

/** A message the server has not confirmed yet. Its id stays the same over resends, so none is ever doubled. */
export interface Pending {
  readonly clientMessageId: string
  readonly text: string
  readonly attachments: readonly string[]
  /** Sent to cut a running answer, or instead of a decision. Kept over resends, as the id is. */
  readonly interrupt?: boolean
  /** It waits at the server for the end of the run. */
  readonly queued?: boolean
  readonly state: 'sending' | 'failed'
  /** Code of what went wrong, and the server's own words for it. */
  readonly problem?: string
  readonly detail?: string
}

/** A new message, on its way. */
export function pendingOf(
  text: string,
  attachments: readonly string[],
  way: Pick<Pending, 'interrupt' | 'queued'>,
): Pending {
  return { clientMessageId: createId(), text, attachments, ...way, state: 'sending' }
}

/** Failures to send that are the network's or a restart's, not the message's. */
const LATER: ReadonlySet<string> = new Set([
  'unreachable',
  'unavailable',
  'store_unavailable',
  'http_502',
  'http_503',
  'http_504',
])
/** How long until what could not be sent is tried again while the browser is online. */
export const LATER_MS = 3000
/** After this the connection counts as dead; the server takes a message that comes again as the same. */
const POST_MS = 30_000

export const isForLater = (error: unknown): boolean => error instanceof ApiError && LATER.has(error.code)

/** It goes by itself once the server is there again. Anything else that failed goes only when the person asks. */
export function isWaiting({ state, problem }: Pick<Pending, 'state' | 'problem'>): boolean {
  return state === 'failed' && problem !== undefined && LATER.has(problem)
}

export function failedWith(entry: Pending, error: unknown): Pending {
  const told = error instanceof ApiError ? { problem: error.code, detail: error.detail } : { problem: 'unknown' }
  return { ...entry, ...told, state: 'failed' }
}

/** Where what waits in a conversation is kept in this browser. */
export interface Box {
  readonly account: string
  /** Null for one that is yet to begin. */
  readonly sessionId: string | null
}
const key = ({ account, sessionId }: Box): string => `${outboxOf(account)}${sessionId ?? 'new'}`
const isPendingList = (value: unknown): value is Pending[] =>
  Array.isArray(value) &&
  value.every((entry: unknown) => typeof entry === 'object' && entry !== null && 'clientMessageId' in entry)

export function recallOutbox(box: Box): Pending[] {
  return recallJson(key(box), isPendingList, [])
}

/** Takes away what pages of before kept under this name. Who may open that conversation has written it. */
export function takeUnownedOutbox(name: string): Pending[] {
  const unowned = `outbox:${name}`
  const left = recallJson(unowned, isPendingList, [])
  remember(unowned, null)
  return left
}

export function keepOutbox(box: Box, pending: readonly Pending[]): void {
  remember(key(box), pending.length > 0 ? JSON.stringify(pending) : null)
}

/** The number of the event that tells of it; 0 where it is queued, and told apart from what is said. */
export async function post(sessionId: string, entry: Pending): Promise<Pick<MessageAnswer, 'seq'>> {
  const { text, attachments, clientMessageId, interrupt } = entry
  if (entry.queued) {
    const body = { text, attachments, client_id: clientMessageId }
    await call('POST', `/sessions/${sessionId}/queue`, { body, signal: AbortSignal.timeout(POST_MS) })
    return { seq: 0 }
  }
  const body = { text, attachments, client_message_id: clientMessageId, interrupt: interrupt ?? false }
  return await call<MessageAnswer>('POST', `/sessions/${sessionId}/messages`, {
    body,
    signal: AbortSignal.timeout(POST_MS),
  })
}
