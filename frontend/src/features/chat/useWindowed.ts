import { useEventListener } from '@vueuse/core'
import { computed, nextTick, shallowReactive, shallowRef, watch, type Ref } from 'vue'
import { useConversation } from './conversation'
import { itemsIn, type Row } from './fold'
import { openWaits } from './waits'
import { nothingWindowed, windowed } from './windowed'

/**
 * Of a long conversation only what is near to what is seen stands on the page, and its last items. What a person opened, what
 * has the focus and what waits for them stays there wherever it is.
 */
export function useWindowed(all: Ref<readonly Row[]>, log: Ref<HTMLElement | null>) {
  const conversation = useConversation()
  const opened = shallowReactive(new Set<string>())
  const focused = shallowRef('')
  const holds = ({ key }: Row): boolean => opened.has(key) || focused.value === key
  const shown = shallowRef(nothingWindowed)
  watch(all, (items) => (shown.value = windowed(items, shown.value, holds)), { immediate: true })

  const head = computed(() => shown.value.items.slice(0, shown.value.cut))
  const tail = computed(() => shown.value.items.slice(shown.value.cut))
  /** Once it is, it stays so: what is there is not made anew. */
  const isLong = shallowRef(false)
  watch(
    [head, () => conversation.hasEarlier],
    () => (isLong.value ||= head.value.length > 0 || conversation.hasEarlier),
    {
      immediate: true,
    },
  )
  const keptAt = computed(() =>
    head.value.flatMap((item, index) => (holds(item) || openWaits(itemsIn([item])) > 0 ? [index] : [])),
  )

  function keyOf(target: EventTarget | null): string {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-key]') : null
    return row?.dataset['key'] ?? ''
  }
  useEventListener(log, 'focusin', ({ target }) => (focused.value = keyOf(target)))
  useEventListener(log, 'click', async ({ target }) => {
    const key = keyOf(target)
    if (key === '' || !(target instanceof Element)) return
    const row = target.closest('[data-key]')
    await nextTick()
    if (row?.querySelector('[aria-expanded=true]')) opened.add(key)
    else opened.delete(key)
  })
  return { shown, head, tail, isLong, keptAt }
}
