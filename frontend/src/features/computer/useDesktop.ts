import { useDocumentVisibility, useEventListener } from '@vueuse/core'
import { nextTick, onScopeDispose, ref, shallowRef, watch, type Ref } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { VncTicket } from '@/api/types'
import type RFB from '@novnc/novnc'
import { copyPicture, hasPicture } from './picture'
import { QUALITIES, quality } from './quality'

export type DesktopState = 'off' | 'connecting' | 'live' | 'reconnecting' | 'failed' | 'absent'
const NO_DESKTOP = 4404
const CONTROL_LOST = 4409
const TOO_MANY = 4429
const LONGEST_DELAY_MS = 15_000
const HIDDEN_MS = 30_000
const LOOK_MS = 50
/** Control, Alt and Shift of both sides, as X names them. */
const MODIFIERS = [0xffe3, 0xffe4, 0xffe9, 0xffea, 0xffe1, 0xffe2]
/** A connection that brings nothing for so long, and has drawn nothing yet, is made anew. */
const SILENT_MS = 15_000

interface DesktopOptions {
  readonly onCopied?: (text: string) => void
  /** Another client has it, or nobody. */
  readonly onControlLost?: () => void
  /** Who has the lease of control. */
  readonly client?: string
}

const viewer = () => import('@novnc/novnc')

/**
 * The live desktop in `target` while `isWanted`: a fresh one-use ticket for each connection, view only unless
 * `control` is asked for, reconnecting when cut, and silent when nobody looks. Between two connections `still` holds the last picture.
 */
export function useDesktop(
  target: Ref<HTMLElement | null>,
  still: Ref<HTMLCanvasElement | null>,
  sessionId: () => string,
  isWanted: () => boolean,
  { onCopied = () => undefined, onControlLost = () => undefined, client = '' }: DesktopOptions = {},
) {
  const state = ref<DesktopState>('off')
  const control = ref(false)
  const problem = shallowRef<unknown>(null)
  const hasStill = ref(false)
  const visibility = useDocumentVisibility()
  const isHiddenLong = ref(false)
  // While the computer is still to start, it costs the first picture nothing. Where it fails, connecting tries again.
  const brought = viewer()
  brought.catch(() => undefined)
  let screen: RFB | null = null
  let connection: WebSocket | null = null
  let isFocusKept = false
  let attempt = 0
  let failures = 0
  let timer = 0
  let silence = 0
  let hiddenTimer = 0

  function leave(): void {
    attempt += 1
    clearTimeout(timer)
    clearTimeout(silence)
    screen?.disconnect()
    screen = connection = null
  }

  function keepPicture(): void {
    if (state.value === 'live' && target.value && still.value) hasStill.value = copyPicture(target.value, still.value)
  }

  function again(mine: number): void {
    if (mine !== attempt) return
    keepPicture()
    state.value = 'reconnecting'
    const delay = Math.min(500 * 2 ** failures, LONGEST_DELAY_MS) * (0.5 + Math.random() / 2)
    failures += 1
    timer = window.setTimeout(() => void connect(), delay)
  }

  /** Connected is not yet seen: the first picture comes after it, and may take long. */
  function showOnceDrawn(mine: number, element: HTMLElement): void {
    if (mine !== attempt) return
    if (!hasPicture(element)) {
      timer = window.setTimeout(() => showOnceDrawn(mine, element), LOOK_MS)
      return
    }
    clearTimeout(silence)
    failures = 0
    state.value = 'live'
    problem.value = null
    hasStill.value = false
    if (control.value && !isFocusKept) void takeFocus(mine, element)
  }
  function endOnceSilent(mine: number, socket: WebSocket): void {
    const restart = (): void => {
      if (mine !== attempt || state.value === 'live') return
      clearTimeout(silence)
      silence = window.setTimeout(() => {
        leave()
        again(attempt)
      }, SILENT_MS)
    }
    socket.addEventListener('message', restart)
    restart()
  }
  /** What is hidden takes no focus, so once it is shown; and never from where somebody writes by now. */
  async function takeFocus(mine: number, element: HTMLElement): Promise<void> {
    await nextTick()
    const holder = document.activeElement ?? document.body
    const isFree = holder === document.body || element.closest('section')?.contains(holder)
    if (mine === attempt && isFree) screen?.focus()
  }

  async function connect(): Promise<void> {
    leave()
    const mine = attempt
    if (state.value !== 'reconnecting') state.value = 'connecting'
    try {
      const [{ default: Rfb }, ticket] = await Promise.all([
        brought.catch(viewer),
        call<VncTicket>('POST', `/sessions/${sessionId()}/vnc/ticket`, {
          body: control.value ? { mode: 'control', client } : { mode: 'view' },
        }),
      ])
      const element = target.value
      if (mine !== attempt || !element) return
      const address = new URL(ticket.url, location.href)
      address.protocol = address.protocol.replace('http', 'ws')
      const socket = new WebSocket(address, 'binary')
      socket.addEventListener('close', (event) => {
        if (mine !== attempt) return
        clearTimeout(timer)
        clearTimeout(silence)
        if (event.code === NO_DESKTOP) state.value = 'absent'
        else if (event.code === CONTROL_LOST) onControlLost()
        else {
          problem.value = event.code === TOO_MANY ? new ApiError(429, 'too_many_streams', '', true) : null
          again(mine)
        }
      })
      try {
        screen = new Rfb(element, socket, { shared: true })
      } catch (error) {
        socket.close()
        throw error
      }
      screen.scaleViewport = true
      screen.viewOnly = !control.value
      screen.focusOnClick = !isFocusKept
      screen.background = 'transparent'
      setQuality()
      screen.addEventListener('clipboard', (event) => onCopied((event as CustomEvent<{ text: string }>).detail.text))
      connection = socket
      screen.addEventListener('connect', () => showOnceDrawn(mine, element))
      endOnceSilent(mine, socket)
    } catch (error) {
      if (mine !== attempt) return
      problem.value = error
      const isFinal = error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429
      if (isFinal) state.value = error.status === 404 ? 'absent' : 'failed'
      else again(mine)
    }
  }

  function retry(): void {
    keepPicture()
    failures = 0
    state.value = 'connecting'
    void connect()
  }
  /** Press and release, or one of both, while one drives. */
  function press(symbol: number, down?: boolean): void {
    if (control.value) screen?.sendKey(symbol, null, down)
  }
  /** The text is on the clipboard over there. */
  function paste(text: string): void {
    if (control.value) screen?.clipboardPasteFrom(text)
  }
  /** A message of RFB that the viewer has no words for. */
  function send(message: Uint8Array<ArrayBuffer>): void {
    if (state.value === 'live' && connection?.readyState === WebSocket.OPEN) connection.send(message)
  }
  function setQuality(): void {
    if (!screen) return
    screen.qualityLevel = QUALITIES[quality.value].quality
    screen.compressionLevel = QUALITIES[quality.value].compression
  }
  watch(quality, setQuality)
  /** A touch of the picture would take the focus, and close the keyboard of the screen. */
  function keepFocus(isKept: boolean): void {
    isFocusKept = isKept
    if (screen) screen.focusOnClick = !isKept
  }
  function setControl(wanted: boolean): void {
    // Handed back by keys: none of them stays down over there.
    if (!wanted) for (const symbol of MODIFIERS) screen?.sendKey(symbol, null, false)
    control.value = wanted
    retry()
  }
  // Nobody waits out a pause that was meant for a server away.
  useEventListener(window, 'online', () => state.value === 'reconnecting' && retry())
  watch(visibility, (now) => {
    clearTimeout(hiddenTimer)
    if (now === 'visible') isHiddenLong.value = false
    else if (!control.value) hiddenTimer = window.setTimeout(() => (isHiddenLong.value = true), HIDDEN_MS)
  })
  // A getter each, also for the element: an array of its own, or a shallow ref among the sources, counts as changed
  // whenever the computer is told anew, and would cut the connection.
  watch(
    [() => isWanted() && !isHiddenLong.value, sessionId, () => target.value],
    ([wanted, , element]) => {
      leave()
      state.value = 'off'
      hasStill.value = false
      if (!wanted) control.value = false
      if (wanted && element) retry()
    },
    { immediate: true, flush: 'post' },
  )
  onScopeDispose(() => {
    clearTimeout(hiddenTimer)
    leave()
  })
  return { state, control, problem, hasStill, retry, setControl, press, paste, send, keepFocus }
}
