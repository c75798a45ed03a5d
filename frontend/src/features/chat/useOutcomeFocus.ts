import { watch, type ShallowRef } from 'vue'

/**
 * A decision takes away the buttons it was made with. Where one of them had the focus, whoever uses the keyboard goes on from
 * what became of it: the first of the card's `data-outcome` that was not there before. `decided` changes with each decision.
 */
export function useOutcomeFocus(card: Readonly<ShallowRef<HTMLElement | null>>, decided: () => unknown): void {
  const outcomes = (): HTMLElement[] => [...(card.value?.querySelectorAll<HTMLElement>('[data-outcome]') ?? [])]
  const hasFocus = (): boolean => card.value?.contains(document.activeElement) ?? false
  let before: readonly HTMLElement[] = []
  let hadFocus = false

  watch(decided, () => {
    before = outcomes()
    hadFocus = hasFocus()
  })
  watch(
    decided,
    () => {
      if (!hadFocus || hasFocus()) return
      const fresh = outcomes().find((one) => !before.includes(one))
      fresh?.focus()
    },
    { flush: 'post' },
  )
}
