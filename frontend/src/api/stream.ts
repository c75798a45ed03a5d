import { callRaw } from './client'
import { ApiError } from './problems'
import { SseParser, type SseMessage } from './sse'

export type StreamState = 'connecting' | 'open' | 'reconnecting' | 'resting' | 'ended'

export interface StreamOptions {
  readonly path: string
  /** What the server is asked to continue after; read anew for each connection. */
  readonly query: () => Record<string, string | number | undefined>
  readonly onMessage: (message: SseMessage) => void
  readonly onState: (state: StreamState, error: ApiError | null) => void
  readonly silenceMs?: number
  /** Gives its connection back when the page was hidden for so long; a browser has but six for all pages of a server. */
  readonly restHiddenMs?: number
  readonly baseDelayMs?: number
  readonly random?: () => number
}

export interface StreamHandle {
  close(): void
  reconnect(): void
}

const LONGEST_DELAY_MS = 15_000
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 410, 422])

/**
 * Follows a stream until closed: reconnects after a loss with a growing delay, at once when the page is shown again
 * or the network is back, and when not even a heartbeat arrived for `silenceMs`.
 */
export function openStream(options: StreamOptions): StreamHandle {
  const silenceMs = options.silenceMs ?? 35_000
  const baseDelayMs = options.baseDelayMs ?? 500
  const random = options.random ?? Math.random
  let closed = false
  let isResting = false
  let failures = 0
  let connection: AbortController | null = null
  let wake: (() => void) | null = null
  let lastByteAt = 0
  let restTimer = 0
  let rested: (() => void) | null = null

  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(done, ms)
      function done(): void {
        clearTimeout(timer)
        wake = null
        resolve()
      }
      wake = done
    })

  async function follow(abort: AbortController): Promise<void> {
    const response = await callRaw('GET', options.path, {
      query: options.query(),
      signal: abort.signal,
      headers: { Accept: 'text/event-stream' },
    })
    if (!response.body) throw ApiError.unreachable()
    options.onState('open', null)
    const parser = new SseParser()
    const reader = response.body.getReader()
    lastByteAt = Date.now()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      lastByteAt = Date.now()
      failures = 0
      for (const message of parser.push(value)) {
        if (closed || abort.signal.aborted) return
        options.onMessage(message)
      }
    }
  }

  async function connectOnce(): Promise<ApiError | null> {
    const abort = new AbortController()
    connection = abort
    lastByteAt = Date.now()
    const watch = setInterval(
      () => {
        if (Date.now() - lastByteAt > silenceMs) abort.abort()
      },
      Math.min(1000, silenceMs / 4),
    )
    try {
      await follow(abort)
      return null
    } catch (error) {
      return error instanceof ApiError ? error : null
    } finally {
      clearInterval(watch)
      abort.abort()
    }
  }

  async function run(): Promise<void> {
    options.onState('connecting', null)
    while (!closed) {
      if (isResting) {
        options.onState('resting', null)
        await new Promise<void>((resolve) => (rested = resolve))
        failures = 0
        continue
      }
      const error = await connectOnce()
      if (closed) return
      if (error && FINAL_STATUSES.has(error.status)) {
        stop()
        options.onState('ended', error)
        return
      }
      if (isResting) continue
      options.onState('reconnecting', error)
      const delay = failures === 0 ? baseDelayMs / 5 : Math.min(baseDelayMs * 2 ** failures, LONGEST_DELAY_MS)
      failures += 1
      await pause(delay * (0.5 + random() / 2))
    }
  }

  function reconnect(): void {
    failures = 0
    if (wake) wake()
    else connection?.abort()
  }
  function rest(): void {
    isResting = true
    connection?.abort()
    wake?.()
  }
  function onVisible(): void {
    clearTimeout(restTimer)
    if (document.visibilityState !== 'visible') {
      if (options.restHiddenMs !== undefined) restTimer = window.setTimeout(rest, options.restHiddenMs)
      return
    }
    isResting = false
    if (rested) {
      rested()
      rested = null
      return
    }
    if (wake) wake()
    else if (Date.now() - lastByteAt > 20_000) connection?.abort()
  }
  function stop(): void {
    closed = true
    clearTimeout(restTimer)
    rested?.()
    window.removeEventListener('online', reconnect)
    document.removeEventListener('visibilitychange', onVisible)
    connection?.abort()
    wake?.()
  }

  window.addEventListener('online', reconnect)
  document.addEventListener('visibilitychange', onVisible)
  void run()
  if (document.visibilityState !== 'visible') onVisible() // opened in the background
  return { close: stop, reconnect }
}
