import type { TokenAnswer } from './types'

const KEY = 'tokens'

export interface Tokens {
  readonly access: string
  readonly refresh: string
}

export function readTokens(): Tokens | null {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? 'null')
    if (typeof stored !== 'object' || stored === null) return null
    const { access, refresh } = stored as Partial<Tokens>
    return typeof access === 'string' && typeof refresh === 'string' ? { access, refresh } : null
  } catch {
    return null
  }
}

export function keepTokens(answer: TokenAnswer): void {
  localStorage.setItem(KEY, JSON.stringify({ access: answer.access_token, refresh: answer.refresh_token }))
}

export function dropTokens(): void {
  localStorage.removeItem(KEY)
}

/** Another tab logged in or out. */
export function onTokensChanged(listener: () => void): () => void {
  const handler = (event: StorageEvent): void => {
    if (event.key === KEY || event.key === null) listener()
  }
  window.addEventListener('storage', handler)
  return () => window.removeEventListener('storage', handler)
}

let running: Promise<boolean> | null = null

/**
 * One refresh at a time, since a refresh token works only once: in this tab always, over all tabs where the browser
 * has locks (plain HTTP on another machine's address has none).
 */
export async function withRefreshLock(work: () => Promise<boolean>): Promise<boolean> {
  const locks = navigator.locks as LockManager | null | undefined
  running ??= (locks ? locks.request('token-refresh', work) : work()).finally(() => {
    running = null
  })
  return await running
}
