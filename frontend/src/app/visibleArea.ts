/** What is less covers nothing that matters: bars of the browser come and go. */
const LEAST = 80

/**
 * Where a browser lays its keyboard over the page (iOS), the page is told what of it is seen, as `--seen-top` and
 * `--seen-height`, so that the message box stands above the keyboard. Where the page itself becomes smaller, or was made
 * larger by two fingers, there is nothing to tell. Returns the way out.
 */
export function startVisibleArea(viewport: VisualViewport | null = window.visualViewport): () => void {
  const root = document.documentElement
  if (!viewport) return () => undefined
  function tell({ height, offsetTop, scale }: VisualViewport): void {
    const isCovered = Math.abs(scale - 1) < 0.01 && root.clientHeight - height > LEAST
    root.toggleAttribute('data-keyboard', isCovered)
    if (isCovered) {
      root.style.setProperty('--seen-top', `${Math.round(Math.max(0, offsetTop))}px`)
      root.style.setProperty('--seen-height', `${Math.round(height)}px`)
    } else {
      root.style.removeProperty('--seen-top')
      root.style.removeProperty('--seen-height')
    }
  }
  const look = (): void => tell(viewport)
  viewport.addEventListener('resize', look)
  viewport.addEventListener('scroll', look)
  look()
  return () => {
    viewport.removeEventListener('resize', look)
    viewport.removeEventListener('scroll', look)
  }
}
