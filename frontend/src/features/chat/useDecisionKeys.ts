import { useElementVisibility, useEventListener, useMediaQuery } from '@vueuse/core'
import { computed, onScopeDispose, shallowReactive, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import { isComposed, takesKeys } from '@/shared/lib/takesKeys'

export const APPROVE_KEY = 'Y'
export const REFUSE_KEY = 'N'
/** A key that was on its way when the card came was meant for something else. */
const SETTLED_MS = 700
/** At least so much of a card is seen by who sees it. */
const SEEN_PX = 48

/** The cards that wait for the person and are in view: of two nobody knows which one a key means. */
const inView = shallowReactive(new Set<object>())

/** Whether a letter is written where the focus is. A message that is not begun may wait until the card is decided. */
function isWritten(target: EventTarget | null): boolean {
  const isBegun = !(target instanceof HTMLTextAreaElement && 'isEmpty' in target.dataset && target.value === '')
  return isBegun && takesKeys(target)
}

/**
 * One key approves and one refuses what this card asks, while it is the only one in view and nothing is being written;
 * never where there is nothing but touch, whose keyboard comes up to write. True: the keys act on this card now.
 */
export function useDecisionKeys(
  card: Readonly<Ref<HTMLElement | null>>,
  isOpen: () => boolean,
  acts: { readonly approve: () => void; readonly refuse: () => void },
): ComputedRef<boolean> {
  const self = {}
  const isVisible = useElementVisibility(card, { rootMargin: `-${SEEN_PX}px 0px` })
  let since = 0
  watch(
    () => isVisible.value && isOpen(),
    (is) => {
      if (is) inView.add(self)
      else inView.delete(self)
      since = performance.now()
    },
    { immediate: true },
  )
  onScopeDispose(() => inView.delete(self))
  const isTouchOnly = useMediaQuery('(pointer: coarse) and (not (any-pointer: fine))')
  const isWriting = shallowRef(isWritten(document.activeElement))
  useEventListener(document, ['focusin', 'focusout', 'input', 'keyup'], () => {
    isWriting.value = isWritten(document.activeElement)
  })
  const isMeant = computed(() => inView.size === 1 && inView.has(self) && !isTouchOnly.value)

  useEventListener(document, 'keydown', (event: KeyboardEvent) => {
    if (!isMeant.value || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.defaultPrevented || isComposed(event) || isWritten(event.target)) return
    const key = event.key.toUpperCase()
    if ((key !== APPROVE_KEY && key !== REFUSE_KEY) || performance.now() - since < SETTLED_MS) return
    event.preventDefault()
    if (key === APPROVE_KEY) acts.approve()
    else acts.refuse()
  })
  return computed(() => isMeant.value && !isWriting.value)
}
