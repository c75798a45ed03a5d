import { useEventListener } from '@vueuse/core'
import { computed, onScopeDispose, ref, type Ref } from 'vue'

/** A desktop is wide: a phone that is held upright turns it, where it can; the end of the full screen turns it back. */
async function layOnItsSide(): Promise<void> {
  const { orientation } = screen as { orientation?: { lock?: (wanted: string) => Promise<void> } }
  await orientation?.lock?.('landscape').catch(() => undefined)
}

/**
 * Shows `element` on the whole screen, or on the whole page where a browser has no full screen for it. Escape leaves, and
 * means nothing else then.
 */
export function useEnlarged(element: Ref<HTMLElement | null>) {
  const isFullscreen = ref(false)
  const isWide = ref(false)
  const isEnlarged = computed(() => isFullscreen.value || isWide.value)

  async function enlarge(): Promise<void> {
    try {
      if (!document.fullscreenEnabled || !element.value) throw new TypeError('no full screen')
      await element.value.requestFullscreen({ navigationUI: 'hide' })
      void layOnItsSide()
    } catch {
      isWide.value = true
    }
  }
  function shrink(): void {
    isWide.value = false
    if (isFullscreen.value) void document.exitFullscreen().catch(() => undefined)
  }
  useEventListener(document, 'fullscreenchange', () => {
    isFullscreen.value = element.value !== null && document.fullscreenElement === element.value
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
  return { isEnlarged, isWide, toggle: () => (isEnlarged.value ? shrink() : void enlarge()) }
}
