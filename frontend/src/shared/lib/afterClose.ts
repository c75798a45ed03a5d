/**
 * What a menu or popover leads to begins once it is closed and its trigger has the focus: a dialog gives the focus back to what
 * had it before, and an item of the menu is gone by then.
 */
export function useAfterClose() {
  let next: (() => unknown) | null = null

  function begin(act: () => unknown): void {
    next = act
  }
  /** For `close-auto-focus`. */
  function onClosed(): void {
    const act = next
    next = null
    // The trigger of a menu has it a task later.
    if (act) setTimeout(() => setTimeout(act))
  }
  return { begin, onClosed }
}
