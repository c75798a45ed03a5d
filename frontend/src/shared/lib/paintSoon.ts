const LATEST_MS = 250
/** Fifteen pictures a second read as text that flows; each costs a layout and a paint of the conversation. */
const REST_MS = 60

/**
 * Calls `paint` with the next frame, once for however many ask until then, and not again for a moment. A tab in the
 * background draws no frames, also where one was asked for before it went there: a timer makes up for it.
 */
export function createPaintSoon(paint: () => void): () => void {
  let frame = 0
  let late = 0
  let rest = 0
  let isAsked = false
  let painted = -Infinity
  function run(): void {
    cancelAnimationFrame(frame)
    clearTimeout(late)
    clearTimeout(rest)
    isAsked = false
    painted = performance.now()
    paint()
  }
  function withNextFrame(): void {
    frame = requestAnimationFrame(run)
  }
  return () => {
    if (isAsked) return
    isAsked = true
    const left = painted + REST_MS - performance.now()
    if (left > 0) rest = window.setTimeout(withNextFrame, left)
    else withNextFrame()
    late = window.setTimeout(run, LATEST_MS)
  }
}
