import { useEventListener } from '@vueuse/core'

/** What Control or Command with a key does, wherever the focus is. */
export function useShortcuts(acts: Readonly<Record<string, () => void>>): void {
  useEventListener(document, 'keydown', (event: KeyboardEvent) => {
    const act = acts[event.key.toLowerCase()]
    if (!(event.metaKey || event.ctrlKey) || event.altKey || !act) return
    act()
    event.preventDefault()
  })
}
