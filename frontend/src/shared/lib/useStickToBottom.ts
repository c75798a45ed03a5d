import { useEventListener, useResizeObserver } from '@vueuse/core'
import { nextTick, ref, watch, type Ref } from 'vue'

const NEAR = 48
/** From further away than so many heights of it nobody follows where it goes. */
const FAR = 4

/** Keeps the end of a growing text in view, but only while the reader is there. */
export function useStickToBottom(box: Ref<HTMLElement | null>, content: Ref<HTMLElement | null>, grows: () => unknown) {
  const isAtEnd = ref(true)
  const hasNew = ref(false)

  /** Where it stood when it was last looked at. */
  let top = 0
  function toEnd(behavior: ScrollBehavior = 'auto'): void {
    isAtEnd.value = true
    hasNew.value = false
    const isFar = box.value !== null && left(box.value) > FAR * box.value.clientHeight
    box.value?.scrollTo({ top: box.value.scrollHeight, behavior: isFar ? 'auto' : behavior })
    top = box.value?.scrollTop ?? 0
  }
  const left = ({ scrollHeight, scrollTop, clientHeight }: HTMLElement) => scrollHeight - scrollTop - clientHeight
  const leave = (): void => void (isAtEnd.value = false)
  let width = 0
  useEventListener(box, 'scroll', () => {
    // Turned or resized, it scrolls by itself before it is told of its new size.
    if (!box.value || box.value.clientWidth !== width) return
    // The end is left by scrolling up alone: what grew since the last scroll took nobody there.
    if (left(box.value) < NEAR) isAtEnd.value = true
    else if (box.value.scrollTop < top) isAtEnd.value = false
    top = box.value.scrollTop
    if (isAtEnd.value) hasNew.value = false
  })
  // Who opens something reads it from its beginning: what it adds moves nothing.
  useEventListener(content, 'click', ({ target }) => {
    if (target instanceof Element && target.closest('[aria-expanded]')) isAtEnd.value = false
  })
  // Either may change its size: text arrives, or what stands below the box grows and leaves less of it.
  useResizeObserver([content, box], () => {
    width = box.value?.clientWidth ?? 0
    if (box.value && left(box.value) < 1) isAtEnd.value = true
    if (isAtEnd.value) toEnd()
    else top = box.value?.scrollTop ?? 0
  })
  watch(grows, async () => {
    // Much of what changes is not to be seen in the text, such as the state of the computer.
    // Who is at its end is kept there once it has its new size: that is not asked for before it is known by itself.
    if (isAtEnd.value) return
    const before = content.value?.offsetHeight
    await nextTick()
    if (!isAtEnd.value && content.value?.offsetHeight !== before) hasNew.value = true
  })
  return { isAtEnd, hasNew, toEnd, leave }
}
