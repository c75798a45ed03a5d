/** What takes keys itself: fields, the screen of the desktop, menus, and dialogs, which stand alone. */
const TAKES_KEYS =
  'input, textarea, select, [contenteditable], canvas, [role=dialog], [role=alertdialog], [role=menu], [role=listbox]'

/** Whether a key belongs to an input method, which composes a word: the key that chooses it sends and closes nothing. */
export const isComposed = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229

/** Whether what stands there takes keys itself. */
export const takesKeys = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(TAKES_KEYS) !== null

/** Whether a key that was pressed means what stands there, and not the page. */
export const isTaken = (event: KeyboardEvent): boolean =>
  event.defaultPrevented || isComposed(event) || takesKeys(event.target)
