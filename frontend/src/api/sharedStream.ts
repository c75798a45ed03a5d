import { ApiError } from './problems'
import type { SseMessage } from './sse'
import { openStream, type StreamHandle, type StreamOptions, type StreamState } from './stream'

type Told =
  | { readonly message: SseMessage }
  | { readonly state: StreamState; readonly error: { readonly status: number; readonly code: string } | null }

const REST_WITHOUT_LOCKS_MS = 60_000

/**
 * Follows a stream that all pages of this browser follow, over one connection: a browser has but six for all pages of a
 * server. The page that was shown last has it and tells the others; when it goes, the next one goes on where it was.
 *
 * Without TLS, but on this machine itself, browsers have no locks: there each page has its own, and rests when hidden.
 */
export function openSharedStream(name: string, options: StreamOptions): StreamHandle {
  const locks = navigator.locks as LockManager | undefined
  if (!locks) return openStream({ ...options, restHiddenMs: REST_WITHOUT_LOCKS_MS })
  const channel = new BroadcastChannel(name)
  let closed = false
  let own: StreamHandle | null = null
  let letGo = (): void => undefined
  const asked = { inLine: false, atOnce: false }

  channel.onmessage = ({ data }: MessageEvent<Told>) => {
    if (closed || own) return
    if ('message' in data) options.onMessage(data.message)
    else options.onState(data.state, data.error && new ApiError(data.error.status, data.error.code, ''))
  }
  function tell(told: Told): void {
    if (!closed) channel.postMessage(told)
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
    const hold = (): Promise<void> => {
      asked[how] = false
      if (closed) return Promise.resolve()
      own = mine = open()
      return new Promise((resolve) => (letGo = resolve))
    }
    await locks?.request(name, { steal: how === 'atOnce' }, hold).catch(() => undefined)
    mine?.close()
    if (own === mine) own = null
    if (!closed) void follow('inLine')
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
