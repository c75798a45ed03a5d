import type { Row } from './fold'

/** So many of the last items always stand on the page, if there are more than `MOST`: the turn at work is among them. */
const LAST = 24
const MOST = 60
/** A turn that is hardly longer is not parted. */
const TURN = 16

export interface Windowed {
  readonly items: readonly Row[]
  /** Where those begin that always stand on the page; the ones before do while they are near what is seen. */
  readonly cut: number
  /** What changed came before all else. */
  readonly isLonger: boolean
}
export const nothingWindowed: Windowed = { items: [], cut: 0, isLonger: false }

/** Where to part `items`, as they were parted `before`: what stands on the page stays there until there is too much of it. */
export function windowed(items: readonly Row[], before: Windowed, holds: (item: Row) => boolean): Windowed {
  const held = before.items[before.cut]?.key
  const at = held === undefined ? -1 : items.findLastIndex(({ key }) => key === held)
  const isLonger = at >= 0 && at !== before.cut
  if (at >= 0 && (isLonger || items.length - at <= MOST)) return { items, cut: at, isLonger }
  if (items.length <= MOST) return { items, cut: 0, isLonger: false }
  return { items, cut: cutOf(items, Math.max(at, 0), holds), isLonger: false }
}

/** At the begin of a turn where one is near, and before what is `held` as it is, while there is not far too much. */
function cutOf(items: readonly Row[], from: number, holds: (item: Row) => boolean): number {
  const last = items.length - LAST
  const turn = items.findLastIndex(({ kind }, at) => kind === 'user' && at <= last)
  const cut = turn >= last - TURN && turn >= from ? turn : last
  const held = items.findIndex((item, at) => at >= from && at < cut && holds(item))
  return held >= 0 && items.length - held <= 3 * MOST ? held : cut
}
