import { useEventListener } from '@vueuse/core'
import { isTaken } from '@/shared/lib/takesKeys'

/** What Control or Command with a key does, wherever the focus is. */
export function useShortcuts(acts: Readonly<Record<string, () => void>>): void {
  useEventListener(document, 'keydown', (event: KeyboardEvent) => {
    const act = acts[event.key.toLowerCase()]
    if (!(event.metaKey || event.ctrlKey) || event.altKey || !act) return
    act()
    event.preventDefault()
  })
}

/** What a question mark does where nothing is written with it. */
export function useQuestionMark(act: () => void): void {
  useEventListener(document, 'keydown', (event: KeyboardEvent) => {
    if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey || isTaken(event)) return
    event.preventDefault()
    act()
  })
}

/** What of a region has the focus: itself, the tab that is chosen in it, where one writes, or what comes first. */
function targetIn(region: HTMLElement): HTMLElement | null {
  if (region.hasAttribute('tabindex')) return region
  const ways = ['[role=tab][aria-selected=true]', 'textarea', 'a[href], button:not([disabled])']
  return ways.map((way) => region.querySelector<HTMLElement>(way)).find((found) => found !== null) ?? null
}

/** F6 leads from one region of the page to the next, and with Shift to the one before, wherever the focus is. */
export function useRegions(): void {
  useEventListener(document, 'keydown', (event: KeyboardEvent) => {
    if (event.key !== 'F6' || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.target instanceof Element && event.target.closest('canvas, [role=dialog], [role=alertdialog]')) return
    const regions = [...document.querySelectorAll<HTMLElement>('[data-region]')].filter((one) => one.checkVisibility())
    const at = regions.findIndex((one) => one.contains(document.activeElement))
    const by = event.shiftKey ? -1 : 1
    const first = at < 0 && by < 0 ? regions.length : at
    for (let step = 1; step <= regions.length; step += 1) {
      const next = regions[(first + by * step + 2 * regions.length) % regions.length]
      const target = next && targetIn(next)
      if (!target) continue
      event.preventDefault()
      return target.focus()
    }
  })
}
