import { ApiError } from './problems'
import {
  alone,
  dropFormer,
  dropLogIn,
  hasLogIn,
  keepAccess,
  keepLogIn,
  markedUser,
  readAccess,
  readFormer,
} from './tokens'
import type { TokenAnswer } from './types'

export interface CallOptions {
  readonly body?: unknown
  /** In place of a body: fields and files. */
  readonly form?: FormData
  readonly query?: Record<string, string | number | undefined>
  readonly signal?: AbortSignal
  /** It goes on where the page is left. */
  readonly keepalive?: boolean
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

const AGAIN_AFTER_MS = [300, 1000]
const REFRESH_MS = 15_000

/** A network that blinks loses nothing that may be asked again; what may have changed something is sent but once. */
async function send(url: string, init: RequestInit, mayRepeat = init.method === 'GET'): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await fetch(url, init)
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') throw error
      const delay = AGAIN_AFTER_MS[attempt]
      if (!mayRepeat || delay === undefined) throw ApiError.unreachable()
      await new Promise((resolve) => setTimeout(resolve, delay))
    }
  }
}

function posted(body: unknown, access?: string): RequestInit {
  const headers = new Headers({ 'Content-Type': 'application/json' })
  if (access) headers.set('Authorization', `Bearer ${access}`)
  return { method: 'POST', headers, body: JSON.stringify(body) }
}

let refreshing: Promise<boolean> | null = null

/** A new access token by the cookie, unless there is one by now. False: log in again. */
export async function refreshTokens(used: string | undefined): Promise<boolean> {
  refreshing ??= alone(() => refresh(used)).finally(() => {
    refreshing = null
  })
  return await refreshing
}

async function refresh(used: string | undefined): Promise<boolean> {
  const now = readAccess()
  if (now !== undefined && now !== used) return true
  const former = readFormer()
  if (!hasLogIn()) return false
  // Whose cookie it should be: a server on another port of this host can plant one of its own.
  const user = markedUser()
  const body = { cookie: true, refresh_token: former ?? undefined, user_id: user ?? undefined }
  const init = { ...posted(body), signal: AbortSignal.timeout(REFRESH_MS) }
  // The server answers the same again for a while, so that a lost answer loses nothing.
  const response = await send(apiUrl('/auth/refresh'), init, true)
  if (response.ok) {
    keepAccess((await response.json()) as TokenAnswer)
    dropFormer()
    return true
  }
  if (response.status !== 401) throw await ApiError.from(response)
  // Somebody logged in beside us meanwhile, and it was their cookie.
  if (user !== null && hasLogIn() && markedUser() !== user) return await refresh(used)
  dropLogIn()
  return false
}

/** The token for a call: refreshed first where this tab has none, or none that holds. */
export async function currentAccess(): Promise<string | undefined> {
  const access = readAccess()
  if (access !== undefined || !hasLogIn()) return access
  await refreshTokens(access)
  return readAccess()
}

/** Logs in, or changes what log-ins hold: no refresh runs meanwhile, which would bring back what was before. */
export async function enter(path: string, body: object): Promise<TokenAnswer> {
  const access = await currentAccess()
  return await alone(async () => {
    const response = await send(apiUrl(path), posted({ ...body, cookie: true }, access))
    if (!response.ok) throw await ApiError.from(response)
    const answer = (await response.json()) as TokenAnswer
    keepLogIn(answer)
    return answer
  })
}

/** Tells the server to end this log-in; false when it could not be told. */
export async function leave(): Promise<boolean> {
  const access = readAccess()
  return await alone(async () => {
    const response = await send(apiUrl('/auth/logout'), posted({}, access)).catch(() => null)
    return response !== null && (response.ok || response.status === 401)
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
    if (options.keepalive) init.keepalive = true
    // Its type names a boundary, which the browser chooses.
    if (options.form) init.body = options.form
    else if (options.body !== undefined) {
      headers.set('Content-Type', 'application/json')
      init.body = JSON.stringify(options.body)
    }
    return await send(url, init)
  }
  const access = options.open ? undefined : await currentAccess()
  let response = await attempt(access)
  if (response.status === 401 && !options.open) {
    if (access && (await refreshTokens(access))) response = await attempt(readAccess())
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
