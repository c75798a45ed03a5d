import { ApiError } from './problems'
import { dropTokens, keepTokens, readTokens, withRefreshLock } from './tokens'
import type { TokenAnswer } from './types'

export interface CallOptions {
  readonly body?: unknown
  readonly query?: Record<string, string | number | undefined>
  readonly signal?: AbortSignal
  readonly headers?: Record<string, string>
  /** Calls of the log-in itself carry no token and are never repeated. */
  readonly open?: boolean
}

type SignedOutListener = () => void
const signedOut = new Set<SignedOutListener>()

/** Called when the server no longer accepts us and a refresh did not help. */
export function onSignedOut(listener: SignedOutListener): () => void {
  signedOut.add(listener)
  return () => signedOut.delete(listener)
}

export function apiUrl(path: string, query: CallOptions['query'] = {}): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  const text = parameters.toString()
  return `/api${path}${text ? `?${text}` : ''}`
}

const READ_AGAIN_AFTER_MS = [300, 1000]

/** A network that blinks loses no read; what may have changed something is never sent twice from here. */
async function send(url: string, init: RequestInit): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await fetch(url, init)
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') throw error
      const delay = READ_AGAIN_AFTER_MS[attempt]
      if (init.method !== 'GET' || delay === undefined) throw ApiError.unreachable()
      await new Promise((resolve) => setTimeout(resolve, delay))
    }
  }
}

/** Trades the refresh token for new ones, unless another tab did so meanwhile. False: log in again. */
export async function refreshTokens(usedAccess: string): Promise<boolean> {
  return await withRefreshLock(async () => {
    const tokens = readTokens()
    if (!tokens) return false
    if (tokens.access !== usedAccess) return true
    const response = await send(apiUrl('/auth/refresh'), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ refresh_token: tokens.refresh }),
    })
    if (response.ok) {
      keepTokens((await response.json()) as TokenAnswer)
      return true
    }
    if (response.status >= 500 || response.status === 429) throw await ApiError.from(response)
    dropTokens()
    return false
  })
}

export function reportSignedOut(): void {
  for (const listener of signedOut) listener()
}

/** A call with our token; refreshed once when it ran out. Any status but success is an `ApiError`. */
export async function callRaw(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  const url = apiUrl(path, options.query)
  const attempt = async (access: string | undefined): Promise<Response> => {
    const headers = new Headers(options.headers)
    if (access && !options.open) headers.set('Authorization', `Bearer ${access}`)
    const init: RequestInit = { method, headers, signal: options.signal ?? null }
    if (options.body !== undefined) {
      headers.set('Content-Type', 'application/json')
      init.body = JSON.stringify(options.body)
    }
    return await send(url, init)
  }
  const access = readTokens()?.access
  let response = await attempt(access)
  if (response.status === 401 && !options.open) {
    if (access && (await refreshTokens(access))) response = await attempt(readTokens()?.access)
    if (response.status === 401) reportSignedOut()
  }
  if (!response.ok) throw await ApiError.from(response)
  return response
}

export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await callRaw(method, path, options)
  if (response.status === 204) return undefined as T
  return (await response.json()) as T
}
