import { useEventListener, useResizeObserver } from '@vueuse/core'
import { nextTick, ref, watch, type Ref } from 'vue'

const NEAR = 48

/** Keeps the end of a growing text in view, but only while the reader is there. */
export function useStickToBottom(box: Ref<HTMLElement | null>, content: Ref<HTMLElement | null>, grows: () => unknown) {
  const isAtEnd = ref(true)
  const hasNew = ref(false)

  function toEnd(behavior: ScrollBehavior = 'auto'): void {
    isAtEnd.value = true
    hasNew.value = false
    box.value?.scrollTo({ top: box.value.scrollHeight, behavior })
  }
  useEventListener(box, 'scroll', () => {
    const element = box.value
    if (!element) return
    isAtEnd.value = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR
    if (isAtEnd.value) hasNew.value = false
  })
  // Either may change its size: text arrives, or what stands below the box grows and leaves less of it.
  useResizeObserver([content, box], () => {
    if (isAtEnd.value) toEnd()
  })
  watch(grows, async () => {
    // Much of what changes is not to be seen in the text, such as the state of the computer.
    const before = isAtEnd.value ? 0 : content.value?.offsetHeight
    await nextTick()
    if (isAtEnd.value) toEnd()
    else if (content.value?.offsetHeight !== before) hasNew.value = true
  })
  return { isAtEnd, hasNew, toEnd }
}
