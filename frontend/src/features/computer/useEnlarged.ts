import { useEventListener } from '@vueuse/core'
import { onScopeDispose, ref } from 'vue'

/** A desktop is wide: a phone that is held upright turns it, where it can; the end of the full screen turns it back. */
async function layOnItsSide(): Promise<void> {
  const { orientation } = screen as { orientation?: { lock?: (wanted: string) => Promise<void> } }
  await orientation?.lock?.('landscape').catch(() => undefined)
}

/**
 * Whether something is to cover the page, with the page on the whole screen where a browser can do that. Not the element
 * alone: noVNC puts its pointer, and what holds the mouse while a button is down, beside it. Escape leaves, and means
 * nothing else then.
 */
export function useEnlarged() {
  const isEnlarged = ref(false)

  function leaveFullscreen(): void {
    if (document.fullscreenElement) void document.exitFullscreen().catch(() => undefined)
  }
  async function enlarge(): Promise<void> {
    isEnlarged.value = true
    if (!document.fullscreenEnabled) return
    try {
      await document.documentElement.requestFullscreen({ navigationUI: 'hide' })
    } catch {
      return
    }
    if (isEnlarged.value) void layOnItsSide()
    else leaveFullscreen()
  }
  function shrink(): void {
    isEnlarged.value = false
    leaveFullscreen()
  }
  useEventListener(document, 'fullscreenchange', () => {
    if (!document.fullscreenElement) isEnlarged.value = false
  })
  useEventListener(
    window,
    'keydown',
    (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !isEnlarged.value) return
      event.preventDefault()
      event.stopImmediatePropagation()
      shrink()
    },
    { capture: true },
  )
  onScopeDispose(shrink)
  return { isEnlarged, toggle: () => (isEnlarged.value ? shrink() : void enlarge()) }
}
