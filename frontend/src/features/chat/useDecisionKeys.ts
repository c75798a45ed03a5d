import { useElementVisibility, useEventListener, useMediaQuery } from '@vueuse/core'
import { computed, onScopeDispose, ref, shallowReactive, watch, type Ref } from 'vue'
import { isComposed, isTaken, takesKeys } from '@/shared/lib/takesKeys'

export const APPROVE_KEY = 'Y'
export const REFUSE_KEY = 'N'
/** A key that was on its way when the card came was meant for something else. */
const SETTLED_MS = 700
/** At least so much of a card is seen by who sees it. */
const SEEN_PX = 48

/** The cards that wait for the person and are in view: of two nobody knows which one a key means. */
const inView = shallowReactive(new Set<object>())

/** What a message says that has no file: the box of one that has is none. */
const messageIn = (target: EventTarget | null): string | null =>
  target instanceof HTMLTextAreaElement && 'textAlone' in target.dataset ? target.value.trim().toUpperCase() : null

/**
 * One key approves and one refuses what this card asks, while it is the only one in view and nothing is being written. In
 * the message box the same letter decides as a message: alone, with Enter. Never where there is nothing but touch, whose
 * keyboard comes up to write.
 *
 * Returns what to press for a key as things are now; null where it does not decide this card.
 */
export function useDecisionKeys(
  card: Readonly<Ref<HTMLElement | null>>,
  isOpen: () => boolean,
  acts: { readonly approve: () => void; readonly refuse: () => void },
): (key: string) => string | null {
  const self = {}
  const isVisible = useElementVisibility(card, { rootMargin: `-${SEEN_PX}px 0px` })
  let since = 0
  watch(
    () => isVisible.value && isOpen(),
    (is) => {
      if (is) inView.add(self)
      else inView.delete(self)
    },
    { immediate: true },
  )
  onScopeDispose(() => inView.delete(self))
  const isTouchOnly = useMediaQuery('(pointer: coarse) and (not (any-pointer: fine))')
  /** The text of the message box that has the focus, and whether letters are written where the focus is. */
  const message = ref<string | null>(null)
  const isWriting = ref(false)
  function look(): void {
    message.value = messageIn(document.activeElement)
    isWriting.value = takesKeys(document.activeElement)
  }
  look()
  useEventListener(document, ['focusin', 'focusout', 'input', 'keyup'], look)
  const isMeant = computed(() => inView.size === 1 && inView.has(self) && !isTouchOnly.value)
  // Also where another card has just gone, which the key may have been meant for.
  watch(isMeant, () => (since = performance.now()), { immediate: true, flush: 'sync' })

  const isKey = (key: string): boolean => key === APPROVE_KEY || key === REFUSE_KEY
  function decides(key: string): boolean {
    if (!isKey(key) || performance.now() - since < SETTLED_MS) return false
    if (key === APPROVE_KEY) acts.approve()
    else acts.refuse()
    return true
  }
  const isPlain = (event: KeyboardEvent): boolean =>
    !(event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || isComposed(event))

  // Before the message box, which would send it.
  useEventListener(
    document,
    'keydown',
    (event: KeyboardEvent) => {
      const box = event.target
      if (!isMeant.value || event.key !== 'Enter' || !isPlain(event) || !(box instanceof HTMLTextAreaElement)) return
      const key = messageIn(box) ?? ''
      if (!isKey(key)) return
      // Also where it comes too soon: as a message it would refuse what is asked, whichever letter it is.
      event.preventDefault()
      event.stopPropagation()
      if (!decides(key)) return
      box.value = ''
      box.dispatchEvent(new Event('input', { bubbles: true }))
    },
    { capture: true },
  )
  useEventListener(document, 'keydown', (event: KeyboardEvent) => {
    if (!isMeant.value || event.repeat || event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return
    if (decides(event.key.toUpperCase())) event.preventDefault()
  })
  return (key) => {
    if (!isMeant.value) return null
    if (message.value === '' || message.value === key) return `${key} ⏎`
    return isWriting.value ? null : key
  }
}
