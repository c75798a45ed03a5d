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

/** What takes keys itself: fields, the screen of the desktop, and dialogs, which stand alone. */
const TAKES_KEYS = 'input, textarea, select, [contenteditable], canvas, [role=dialog], [role=alertdialog]'

/** What a question mark does where nothing is written with it. */
export function useQuestionMark(act: () => void): void {
  useEventListener(document, 'keydown', (event: KeyboardEvent) => {
    if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
    if (event.defaultPrevented || (event.target instanceof Element && event.target.closest(TAKES_KEYS))) return
    event.preventDefault()
    act()
  })
}
