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

/** One refresh at a time over all tabs, since a refresh token works only once. */
export async function withRefreshLock<T>(work: () => Promise<T>): Promise<T> {
  if (typeof navigator !== 'undefined' && 'locks' in navigator)
    return await navigator.locks.request('token-refresh', work)
  return await work()
}
