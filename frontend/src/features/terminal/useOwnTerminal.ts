import { useEventListener } from '@vueuse/core'
import { onScopeDispose, ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { TerminalTicket } from '@/api/types'
import type { Screen, ScreenSize } from './screen'

export type TerminalState = 'off' | 'connecting' | 'live' | 'reconnecting' | 'ended' | 'failed'
interface Frame {
  readonly type: string
  readonly offset?: number
  readonly began?: number
  readonly modes?: string
  readonly cols?: number
  readonly rows?: number
  readonly exit_code?: number
  readonly bytes?: number
}
const REFUSED = 4403
const GONE = 4404
const TOO_MANY = 4429
const LONGEST_DELAY_MS = 15_000
const SLICE_BYTES = 32 * 1024
/** What is shown is acknowledged after so many bytes, and once all of it is. */
const ACK_BYTES = 32 * 1024
export const MOST_PASTED_BYTES = 1024 * 1024

/** Problems that another try does not mend. */
const FINAL: Readonly<Record<number, [number, string]>> = {
  [REFUSED]: [403, 'terminal_refused'],
  [GONE]: [404, 'session_not_found'],
  [TOO_MANY]: [429, 'too_many_terminals'],
}

/**
 * A terminal of the user's own in `screen`: a fresh one-use ticket for each connection, reconnecting when cut. It says how
 * much it has shown, so that the server sends no more than can be shown, and after a cut only what is missing.
 */
export function useOwnTerminal(screen: () => Screen | null, sessionId: () => string, name: () => string) {
  const state = ref<TerminalState>('off')
  const problem = shallowRef<unknown>(null)
  const exitCode = ref<number | null>(null)
  /** Typed bytes that were dropped, as the program does not read. */
  const dropped = ref(0)
  let socket: WebSocket | null = null
  let attempt = 0
  let failures = 0
  let timer = 0
  let began: number | null = null
  let received = 0
  let shown = 0
  let acknowledged = 0

  function leave(): void {
    attempt += 1
    clearTimeout(timer)
    socket?.close()
    socket = null
  }
  function send(message: string | Uint8Array<ArrayBuffer>): void {
    if (socket?.readyState === WebSocket.OPEN) socket.send(message)
  }
  function acknowledge(): void {
    acknowledged = shown
    send(JSON.stringify({ type: 'ack', offset: shown }))
  }
  function onBytes(data: ArrayBuffer): void {
    const bytes = new Uint8Array(data)
    const [mine, before] = [attempt, received]
    received += bytes.length
    screen()?.write(bytes, () => {
      if (mine !== attempt || before < shown) return
      shown = before + bytes.length
      if (shown - acknowledged >= ACK_BYTES || shown === received) acknowledge()
    })
  }
  function onFrame(frame: Frame): void {
    if (frame.type === 'attached') attach(frame)
    else if (frame.type === 'size') showSize(frame)
    else if (frame.type === 'input_dropped') dropped.value += frame.bytes ?? 0
    else if (frame.type === 'ended') {
      exitCode.value = frame.exit_code ?? 0
      state.value = 'ended'
    }
  }
  function attach(frame: Frame): void {
    const offset = frame.offset ?? 0
    if (frame.began !== began || offset !== received) {
      screen()?.reset()
      if (frame.modes) screen()?.write(frame.modes)
    }
    began = frame.began ?? null
    received = shown = offset
    failures = 0
    state.value = 'live'
    problem.value = null
    showSize(frame)
    acknowledge()
    const fitted = screen()?.fitted()
    if (fitted) resize(fitted)
  }
  function showSize({ cols, rows }: Frame): void {
    if (cols && rows) screen()?.resize({ cols, rows })
  }

  function again(mine: number): void {
    if (mine !== attempt) return
    state.value = 'reconnecting'
    const delay = Math.min(500 * 2 ** failures, LONGEST_DELAY_MS) * (0.5 + Math.random() / 2)
    failures += 1
    timer = window.setTimeout(() => void open(), delay)
  }
  function fail(error: unknown): void {
    problem.value = error
    state.value = 'failed'
  }
  async function open(): Promise<void> {
    leave()
    const mine = attempt
    if (state.value !== 'reconnecting') state.value = 'connecting'
    try {
      const ticket = await call<TerminalTicket>('POST', `/sessions/${sessionId()}/terminal/ticket`, {
        body: { terminal: name() },
      })
      if (mine !== attempt) return
      connect(ticket.url, mine)
    } catch (error) {
      if (mine !== attempt) return
      const isFinal = error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429
      if (isFinal) fail(error)
      else again(mine)
    }
  }
  function connect(url: string, mine: number): void {
    const address = new URL(url, location.href)
    address.protocol = address.protocol.replace('http', 'ws')
    if (began !== null) {
      address.searchParams.set('after', `${received}`)
      address.searchParams.set('began', `${began}`)
    }
    const opened = new WebSocket(address)
    opened.binaryType = 'arraybuffer'
    socket = opened
    opened.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (mine !== attempt) return
      if (typeof data === 'string') onFrame(JSON.parse(data) as Frame)
      else onBytes(data)
    })
    opened.addEventListener('close', ({ code }) => {
      if (mine !== attempt || state.value === 'ended') return
      const final = FINAL[code]
      if (final) fail(new ApiError(...final, '', code === TOO_MANY))
      else again(mine)
    })
  }

  function start(): void {
    failures = 0
    exitCode.value = null
    problem.value = null
    state.value = 'connecting'
    void open()
  }
  /** False where it is too much at once, and nothing is typed. */
  function type(bytes: Uint8Array): boolean {
    if (bytes.length > MOST_PASTED_BYTES) return false
    dropped.value = 0
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) send(bytes.slice(at, at + SLICE_BYTES))
    return true
  }
  function resize({ cols, rows }: ScreenSize): void {
    if (cols > 0 && state.value === 'live') send(JSON.stringify({ type: 'resize', cols, rows }))
  }
  // Nobody waits out a pause that was meant for a server away.
  useEventListener(window, 'online', () => state.value === 'reconnecting' && start())
  onScopeDispose(leave)
  return { state, problem, exitCode, dropped, start, type, resize }
}
