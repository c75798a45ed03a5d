import { nextTick } from 'vue'

/**
 * Brings into view what was just opened, with what opened it: whole, or from its beginning where it is taller than what is
 * seen of `box`, in which it scrolls.
 */
export async function showOpened(part: HTMLElement | null, box = '[data-conversation]'): Promise<void> {
  await nextTick()
  if (!part) return
  const seen = part.closest(box)?.clientHeight ?? window.innerHeight
  part.scrollIntoView({ block: part.offsetHeight > seen ? 'start' : 'nearest' })
}
