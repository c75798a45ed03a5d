import { useEventListener, useResizeObserver } from '@vueuse/core'
import { ref, type Ref } from 'vue'

/** Whether a row that scrolls sideways goes on before what is seen of it, and after. */
export function useEdges(row: Readonly<Ref<HTMLElement | null>>): { before: Ref<boolean>; after: Ref<boolean> } {
  const before = ref(false)
  const after = ref(false)

  function look(): void {
    const { scrollLeft = 0, clientWidth = 0, scrollWidth = 0 } = row.value ?? {}
    // Where a pixel of the screen is not one of the page, the end is reached at a fraction.
    before.value = scrollLeft > 1
    after.value = scrollLeft + clientWidth < scrollWidth - 1
  }
  useEventListener(row, 'scroll', look, { passive: true })
  useResizeObserver(row, look)
  return { before, after }
}
