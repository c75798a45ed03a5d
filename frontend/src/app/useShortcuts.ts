import { useEventListener } from '@vueuse/core'
import { isTaken } from '@/shared/lib/takesKeys'

/** What Control or Command with a key does, wherever the focus is. */
export function useShortcuts(acts: Readonly<Record<string, () => void>>): void {
  useEventListener(document, 'keydown', (event: KeyboardEvent) => {
    const act = acts[event.key.toLowerCase()]
    if (!(event.metaKey || event.ctrlKey) || event.altKey || !act) return
    act()
    event.preventDefault()
  })
}

/** What a question mark does where nothing is written with it. */
export function useQuestionMark(act: () => void): void {
  useEventListener(document, 'keydown', (event: KeyboardEvent) => {
    if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return
    event.preventDefault()
    act()
  })
}
