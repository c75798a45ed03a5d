import { useEventListener } from '@vueuse/core'
import { ref, type Ref } from 'vue'

/** More than this is a file rather than a text that is pasted. */
export const MOST_CHARACTERS = 1_000_000
const CONTROL_LEFT = 0xffe3
const LETTER_V = 0x76
/** Held where a Mac's paste key is, which means something else there. */
const COMMANDS = [0xffeb, 0xffec, 0xffe7, 0xffe8]

interface Desktop {
  readonly paste: (text: string) => void
  readonly press: (symbol: number, down?: boolean) => void
}

/**
 * The clipboard of the desktop and that of the person, for as long as they drive it: what is copied there is in theirs,
 * and their paste keys paste there. `tooLarge` says of which size something was that was not taken over, `untaken` is
 * what this browser wants a press of a button for.
 */
export function useClipboardThere(target: Ref<HTMLElement | null>, hasControl: () => boolean, desktop: Desktop) {
  const tooLarge = ref<number | null>(null)
  const untaken = ref<string | null>(null)

  function bounded(text: string): boolean {
    tooLarge.value = text.length > MOST_CHARACTERS ? text.length : null
    return tooLarge.value === null
  }
  async function copied(text: string): Promise<void> {
    untaken.value = null
    if (!hasControl() || text === '' || !bounded(text)) return
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      // Not offered at an address without encryption, or not allowed without a press.
      untaken.value = text
    }
  }
  const isHere = (): boolean => hasControl() && (target.value?.contains(document.activeElement) ?? false)
  let isPasting = false
  useEventListener(
    window,
    'keydown',
    (event: KeyboardEvent) => {
      const isPaste = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'v'
      isPasting = isPaste && !event.shiftKey && isHere()
      // The browser's own paste brings the text, which no script may read without asking.
      if (isPasting) event.stopImmediatePropagation()
    },
    { capture: true },
  )
  useEventListener(document, 'paste', (event: ClipboardEvent) => {
    if (!isPasting || !isHere()) return
    isPasting = false
    event.preventDefault()
    const text = event.clipboardData?.getData('text/plain') ?? ''
    if (!bounded(text)) return
    if (text !== '') desktop.paste(text)
    for (const symbol of COMMANDS) desktop.press(symbol, false)
    desktop.press(CONTROL_LEFT, true)
    desktop.press(LETTER_V)
    desktop.press(CONTROL_LEFT, false)
  })
  return { tooLarge, untaken, copied }
}
