/** The page up (-1) or down (1) that a key asks for in a box with no more text there; null of any other key. */
export function pageBeyond(event: KeyboardEvent, box: HTMLElement | null): -1 | 1 | null {
  if (!box || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return null
  if (event.key === 'PageUp') return box.scrollTop <= 1 ? -1 : null
  return event.key === 'PageDown' && box.scrollTop + box.clientHeight >= box.scrollHeight - 1 ? 1 : null
}
