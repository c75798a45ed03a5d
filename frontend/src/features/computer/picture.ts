/** Whether anything was drawn on the canvas in `element`: one that only stands there is clear all over. */
export function hasPicture(element: HTMLElement): boolean {
  const drawn = element.querySelector('canvas')
  if (!drawn || drawn.width === 0 || drawn.height === 0) return false
  // By way of a canvas of its own, as reading the drawn one itself would slow it from then on.
  const sample = document.createElement('canvas')
  sample.width = sample.height = 8
  const context = sample.getContext('2d', { willReadFrequently: true })
  if (!context) return false
  context.drawImage(drawn, 0, 0, 8, 8)
  return context.getImageData(0, 0, 8, 8).data.some((value, at) => at % 4 === 3 && value > 0)
}

/** Draws what `element` shows now on `still`; false where it shows nothing. */
export function copyPicture(element: HTMLElement, still: HTMLCanvasElement): boolean {
  const drawn = element.querySelector('canvas')
  const context = still.getContext('2d')
  if (!drawn || !context || drawn.width === 0 || drawn.height === 0) return false
  still.width = drawn.width
  still.height = drawn.height
  context.drawImage(drawn, 0, 0)
  return true
}
