import { useElementVisibility, useEventListener } from '@vueuse/core'
import { computed, onScopeDispose, shallowReactive, watch, type ComputedRef, type Ref } from 'vue'
import { isTaken } from '@/shared/lib/takesKeys'

export const APPROVE_KEY = 'Y'
export const REFUSE_KEY = 'N'
/** A key that was on its way when the card came was meant for something else. */
const SETTLED_MS = 700
/** At least so much of a card is seen by who sees it. */
const SEEN_PX = 48

/** The cards that wait for the person and are in view: of two nobody knows which one a key means. */
const inView = shallowReactive(new Set<object>())

/**
 * One key approves and one refuses what this card asks, while it is the only one in view and nothing is being written.
 * True: the keys act on this card now.
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
  const isMeant = computed(() => inView.size === 1 && inView.has(self))

  useEventListener(document, 'keydown', (event: KeyboardEvent) => {
    if (!isMeant.value || event.repeat || event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return
    const key = event.key.toUpperCase()
    if ((key !== APPROVE_KEY && key !== REFUSE_KEY) || performance.now() - since < SETTLED_MS) return
    event.preventDefault()
    if (key === APPROVE_KEY) acts.approve()
    else acts.refuse()
  })
  return isMeant
}
