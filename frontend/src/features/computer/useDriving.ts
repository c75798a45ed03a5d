import { onScopeDispose, ref, watch, type Ref } from 'vue'
import { useEventListener } from '@vueuse/core'

const ASK_MS = 2_000
/** Who drove and answers nothing for so long is gone without a word. */
const GONE_MS = 5_000

/**
 * Whether another window of this browser drives the desktop of the session. Windows tell each other: whoever takes it
 * over has it alone, and in the window that had it `handBack` is called.
 */
export function useDriving(sessionId: () => string, control: Ref<boolean>, handBack: () => void): Ref<boolean> {
  const isElsewhere = ref(false)
  let channel: BroadcastChannel | null = null
  let asks = 0
  let gone = 0

  function say(what: 'takes' | 'drives' | 'ended' | 'who'): void {
    channel?.postMessage(what)
  }
  function settle(isDriven: boolean): void {
    isElsewhere.value = isDriven
    clearTimeout(gone)
    clearInterval(asks)
    if (!isDriven) return
    gone = window.setTimeout(() => settle(false), GONE_MS)
    asks = window.setInterval(() => say('who'), ASK_MS)
  }
  function hear({ data }: MessageEvent<unknown>): void {
    if (data === 'who' && control.value) say('drives')
    else if (data === 'ended') settle(false)
    else if (data === 'takes' || (data === 'drives' && !control.value)) {
      settle(true)
      if (control.value) handBack()
    }
  }
  function leave(): void {
    if (control.value) say('ended')
    channel?.close()
    channel = null
    settle(false)
  }
  watch(
    sessionId,
    (id) => {
      leave()
      channel = new BroadcastChannel(`drives:${id}`)
      channel.addEventListener('message', hear)
      say('who')
    },
    { immediate: true },
  )
  watch(
    control,
    (drives) => {
      if (drives) settle(false)
      // Handed back because another window took it: nothing has ended.
      if (drives || !isElsewhere.value) say(drives ? 'takes' : 'ended')
    },
    { flush: 'sync' },
  )
  useEventListener(window, 'pagehide', () => control.value && say('ended'))
  onScopeDispose(leave)
  return isElsewhere
}
