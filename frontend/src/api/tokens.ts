import { recall, remember } from '@/shared/lib/storage'
import type { TokenAnswer } from './types'

/**
 * The access token lives in this tab's memory and the refresh token in a cookie that no script can read. What the
 * browser keeps for scripts says only that somebody logged in, and who, so that all tabs know.
 */
const MARK = 'log-in'
const LEAVING = 'leaving'
/** Where both tokens were kept before there was a cookie. */
const FORMER = 'tokens'
/** A token that runs out on its way to the server is of no use. */
const SPARE_MS = 10_000

let access: { readonly token: string; readonly until: number } | null = null
const listeners = new Set<() => void>()

/** The access token, unless it ran out. */
export function readAccess(): string | undefined {
  return access && access.until - SPARE_MS > Date.now() ? access.token : undefined
}

export function keepAccess(answer: TokenAnswer): void {
  hold(answer)
  const before = markedUser()
  if (before === answer.user.id) return
  mark(answer)
  // Somebody else logged in beside us: whatever this tab shows is another's.
  if (before !== null) for (const listener of listeners) listener()
}

/** After a log-in, which is news to the other tabs, also when it is the same user's. */
export function keepLogIn(answer: TokenAnswer): void {
  hold(answer)
  mark(answer)
}

function hold(answer: TokenAnswer): void {
  access = { token: answer.access_token, until: Date.now() + answer.expires_in * 1000 }
}

function mark(answer: TokenAnswer): void {
  remember(MARK, JSON.stringify({ user: answer.user.id, at: Date.now() }))
}

export function dropLogIn(): void {
  access = null
  remember(FORMER, null)
  remember(MARK, null)
}

/** Logged out here while the server could not be told: it must be, before anything else is asked of it. */
export function dropLogInLater(): void {
  dropLogIn()
  remember(MARK, LEAVING)
}

export function isLeaving(): boolean {
  return recall(MARK) === LEAVING
}

/** Whether there is a cookie to ask with, as far as a script can know. */
export function hasLogIn(): boolean {
  return markedUser() !== null || readFormer() !== null
}

/** Who logged in last in this browser. */
export function markedUser(): string | null {
  return readText(MARK, 'user')
}

/** The refresh token of a page of before, to be traded once. */
export function readFormer(): string | null {
  return readText(FORMER, 'refresh')
}

export function dropFormer(): void {
  remember(FORMER, null)
}

function readText(key: string, field: string): string | null {
  try {
    const stored: unknown = JSON.parse(recall(key) ?? 'null')
    const found: unknown = typeof stored === 'object' && stored !== null ? Reflect.get(stored, field) : null
    return typeof found === 'string' ? found : null
  } catch {
    return null
  }
}

/** Another tab logged in or out, or the log-in turned out to be another's. */
export function onLogInChanged(listener: () => void): () => void {
  const handler = (event: StorageEvent): void => {
    if (event.key !== MARK && event.key !== null) return
    access = null
    listener()
  }
  listeners.add(listener)
  window.addEventListener('storage', handler)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', handler)
  }
}

let last: Promise<unknown> = Promise.resolve()

/**
 * One at a time of what changes the cookie: in this tab always, over all tabs where the browser has locks (plain HTTP
 * on another machine's address has none; there the server gives all tabs the same answer).
 */
export async function alone<T>(work: () => Promise<T>): Promise<T> {
  const locks = navigator.locks as LockManager | null | undefined
  const mine = last.then(() => (locks ? locks.request('log-in', work) : work())) as Promise<T>
  last = mine.catch(() => undefined)
  return await mine
}
