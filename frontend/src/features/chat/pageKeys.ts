/** Says which way the conversation is to go by a page, for a key pressed in a box that has no more text that way. */
export function pageBeyond(event: KeyboardEvent, box: HTMLElement | null, go: (direction: -1 | 1) => void): void {
  if (!box || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return
  const isUp = event.key === 'PageUp'
  const isAtEdge = isUp ? box.scrollTop <= 1 : box.scrollTop + box.clientHeight >= box.scrollHeight - 1
  if (!isAtEdge) return
  event.preventDefault()
  go(isUp ? -1 : 1)
}
