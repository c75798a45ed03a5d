import { useEventListener } from '@vueuse/core'

/** How the three keys are written on this keyboard. */
export const WAY_OUT = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌃⌥⇧' : 'Ctrl+Alt+Shift'

/** Control, Alt and Shift held together call `leave` while `isOn`: every other key goes to the desktop, Tab too. */
export function useWayOut(isOn: () => boolean, leave: () => void): void {
  useEventListener(
    window,
    'keydown',
    (event: KeyboardEvent) => {
      if (!isOn() || !['Control', 'Alt', 'Shift'].includes(event.key)) return
      if (!event.ctrlKey || !event.altKey || !event.shiftKey) return
      event.preventDefault()
      event.stopImmediatePropagation()
      leave()
    },
    { capture: true },
  )
}
