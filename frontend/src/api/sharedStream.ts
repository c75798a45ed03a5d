import { ApiError } from './problems'
import type { SseMessage } from './sse'
import { openStream, type StreamHandle, type StreamOptions, type StreamState } from './stream'

type Told =
  | { readonly message: SseMessage }
  | { readonly state: StreamState; readonly error: { readonly status: number; readonly code: string } | null }

const REST_ALONE_MS = 60_000

/** None where the browser has none, or refuses it as it refuses to keep anything. */
function channelOf(name: string): BroadcastChannel | null {
  try {
    return new BroadcastChannel(name)
  } catch {
    return null
  }
}

/**
 * Follows a stream that all pages of this browser follow, over one connection: a browser has but six for all pages of a
 * server. The page that was shown last has it and tells the others; when it goes, the next one goes on where it was.
 * While it changes hands, a message may come twice.
 *
 * Without TLS, but on this machine itself, browsers have no locks, and some refuse them: there each page has its own, and
 * rests when hidden.
 */
export function openSharedStream(name: string, options: StreamOptions): StreamHandle {
  const locks = navigator.locks as LockManager | undefined
  const channel = channelOf(name)
  const openAlone = (): StreamHandle => openStream({ ...options, restHiddenMs: REST_ALONE_MS })
  if (!locks || !channel) return openAlone()
  let closed = false
  let own: StreamHandle | null = null
  let letGo = (): void => undefined
  const asked = { inLine: false, atOnce: false }

  channel.onmessage = ({ data }: MessageEvent<Told>) => {
    if (closed) return
    // Also from the page that takes over just now: nothing falls between its stream and this page's.
    if ('message' in data) options.onMessage(data.message)
    else if (!own) options.onState(data.state, data.error && new ApiError(data.error.status, data.error.code, ''))
  }
  function tell(told: Told): void {
    if (!closed) channel?.postMessage(told)
  }
  function open(): StreamHandle {
    return openStream({
      ...options,
      onMessage: (message) => {
        options.onMessage(message)
        tell({ message })
      },
      onState: (state, error) => {
        options.onState(state, error)
        tell({ state, error: error && { status: error.status, code: error.code } })
      },
    })
  }
  /** Follows it from when this page has the lock until it is closed, or another one takes the lock over. */
  async function follow(how: keyof typeof asked): Promise<void> {
    if (asked[how]) return
    asked[how] = true
    let mine = null as StreamHandle | null
    let isRefused = true
    const hold = (): Promise<void> => {
      asked[how] = isRefused = false
      if (closed) return Promise.resolve()
      own = mine = open()
      return new Promise((resolve) => (letGo = resolve))
    }
    await locks?.request(name, { steal: how === 'atOnce' }, hold).catch(() => undefined)
    mine?.close()
    if (own === mine) own = null
    if (closed) return
    if (isRefused) own ??= openAlone()
    else void follow('inLine')
  }
  function takeOver(): void {
    if (document.visibilityState === 'visible' && !own) void follow('atOnce')
  }
  document.addEventListener('visibilitychange', takeOver)
  void follow(document.visibilityState === 'visible' ? 'atOnce' : 'inLine')

  return {
    close: () => {
      closed = true
      document.removeEventListener('visibilitychange', takeOver)
      channel.close()
      own?.close()
      letGo()
    },
    reconnect: () => (own ? own.reconnect() : takeOver()),
  }
}
