import { useMutationObserver, useResizeObserver } from '@vueuse/core'
import { computed, nextTick, ref, watch, type Ref } from 'vue'

/**
 * Moves a picture that is wider than `view`: `shift` is 0 at its left end and 1 at its right, `ratio` that of its sides,
 * and `isWider` whether there is anything to move.
 */
export function useSideways(view: Ref<HTMLElement | null>, picture: Ref<HTMLElement | null>, isOn: () => boolean) {
  const at = ref(0)
  const ratio = ref('16 / 10')
  const isWider = ref(false)

  function widthOver(): number {
    return view.value ? view.value.scrollWidth - view.value.clientWidth : 0
  }
  function onScroll(): void {
    const over = widthOver()
    isWider.value = over > 1
    at.value = over > 0 ? (view.value?.scrollLeft ?? 0) / over : 0
  }
  async function measure(): Promise<void> {
    const canvas = picture.value?.querySelector('canvas')
    if (isOn() && canvas && canvas.width > 0 && canvas.height > 0) ratio.value = `${canvas.width} / ${canvas.height}`
    await nextTick()
    if (!isOn()) view.value?.scrollTo({ left: 0 })
    onScroll()
  }
  watch(isOn, measure)
  // The desktop over there may take another size.
  useMutationObserver(picture, () => void measure(), {
    subtree: true,
    attributes: true,
    attributeFilter: ['width', 'height'],
  })
  useResizeObserver(view, onScroll)
  const shift = computed({
    get: () => at.value,
    set: (share: number) => view.value?.scrollTo({ left: share * widthOver() }),
  })
  return { shift, ratio, isWider, onScroll }
}
