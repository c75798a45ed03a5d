import { watch } from 'vue'

/** Where the focus is in `box` when that is shown no more, `next` gives it to what is there instead. */
export function useFocusAfter(box: () => HTMLElement | null, isShown: () => boolean, next: () => void): void {
  let hadFocus = false
  watch(isShown, (shown) => (hadFocus = !shown && (box()?.contains(document.activeElement) ?? false)))
  watch(isShown, () => hadFocus && next(), { flush: 'post' })
}
