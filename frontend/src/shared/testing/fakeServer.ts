import { vi } from 'vitest'
import type { TokenAnswer } from '@/api/types'

type Answer = (request: {
  method: string
  path: string
  body: unknown
  headers: Headers
  signal: AbortSignal | null
}) => Response | Promise<Response>

export interface FakeServer {
  readonly calls: { method: string; path: string; body: unknown; headers: Headers }[]
}

/** Answers `fetch` by method and path (query included where given); anything else is a 404 problem. */
export function startFakeServer(answers: Record<string, Answer>): FakeServer {
  const calls: FakeServer['calls'] = []
  vi.stubGlobal('fetch', async (input: string, init: RequestInit = {}) => {
    const method = init.method ?? 'GET'
    const path = input.replace(/^\/api/, '')
    const body: unknown = typeof init.body === 'string' ? JSON.parse(init.body) : undefined
    const headers = new Headers(init.headers)
    calls.push({ method, path, body, headers })
    const answer = answers[`${method} ${path}`] ?? answers[`${method} ${path.split('?')[0] ?? ''}`]
    if (!answer) return problem(404, 'not_found')
    return await answer({ method, path, body, headers, signal: init.signal ?? null })
  })
  return { calls }
}

export function json(value: unknown, status = 200): Response {
  return new Response(JSON.stringify(value), { status, headers: { 'Content-Type': 'application/json' } })
}

/** What the server answers a page that logs in or refreshes. */
export function grant(token: string, user = 'u', expiresInS = 1800): TokenAnswer {
  return {
    access_token: token,
    refresh_token: null,
    token_type: 'bearer',
    expires_in: expiresInS,
    user: { id: user, username: user, is_admin: false },
  }
}

export function problem(status: number, code: string, detail = ''): Response {
  return new Response(JSON.stringify({ type: 'about:blank', title: code, status, detail, code }), {
    status,
    headers: { 'Content-Type': 'application/problem+json' },
  })
}

export interface FakeStream {
  readonly response: Response
  send(text: string): void
  end(): void
}

/** An answer whose body the test writes; it fails like a cut connection when the reader aborts. */
export function openFakeStream(signal: AbortSignal | null): FakeStream {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  const body = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given
      signal?.addEventListener('abort', () => given.error(new DOMException('aborted', 'AbortError')))
    },
  })
  return {
    response: new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }),
    send: (text) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
  }
}
