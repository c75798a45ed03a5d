const LATEST_MS = 250

/**
 * Calls `paint` with the next frame, once for however many ask until then. A tab in the background draws no frames,
 * also where one was asked for before it went there: a timer makes up for it.
 */
export function createPaintSoon(paint: () => void): () => void {
  let frame = 0
  let timer = 0
  function run(): void {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    timer = 0
    paint()
  }
  return () => {
    if (timer !== 0) return
    frame = requestAnimationFrame(run)
    timer = window.setTimeout(run, LATEST_MS)
  }
}
