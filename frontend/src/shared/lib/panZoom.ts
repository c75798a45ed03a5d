export interface Point {
  readonly x: number
  readonly y: number
}
export interface Size {
  readonly width: number
  readonly height: number
}
/** How a picture lies in its place: so many times as large as it fits, moved by so many pixels. */
export interface View extends Point {
  readonly scale: number
}

export const MOST_SCALE = 8
export const STEP = 1.5
/** All of it, as large as there is room. */
export const fitted: View = { scale: 1, x: 0, y: 0 }

const between = (low: number, value: number, high: number): number => Math.min(high, Math.max(low, value))

/** The view with `by` times the scale; what lies at this point of the place stays there, as far as no edge comes inside. */
export function zoomed(view: View, by: number, at: Point, place: Size): View {
  const scale = between(1, view.scale * by, MOST_SCALE)
  const part = scale / view.scale
  return kept({ scale, x: at.x - (at.x - view.x) * part, y: at.y - (at.y - view.y) * part }, place)
}

export function moved(view: View, by: Point, place: Size): View {
  return kept({ scale: view.scale, x: view.x + by.x, y: view.y + by.y }, place)
}

/** No edge of the picture's place comes inside, so that it can't be lost. */
function kept({ scale, x, y }: View, place: Size): View {
  // `+ 0` makes one zero of both.
  return { scale, x: between(place.width * (1 - scale), x, 0) + 0, y: between(place.height * (1 - scale), y, 0) + 0 }
}

/** The middle of all fingers, and how far they are from it; 0 for one. */
export function spread(points: readonly Point[]): { middle: Point; distance: number } {
  const middle = {
    x: points.reduce((sum, { x }) => sum + x, 0) / points.length,
    y: points.reduce((sum, { y }) => sum + y, 0) / points.length,
  }
  const distance = points.reduce((sum, { x, y }) => sum + Math.hypot(x - middle.x, y - middle.y), 0) / points.length
  return { middle, distance }
}
