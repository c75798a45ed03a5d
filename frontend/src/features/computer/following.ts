import { awaitsComputer, placeOf, viewOf, type Place, type ToolCard } from '@/features/tools'

/** It is at work, or was: what was only asked for, refused or skipped has nothing to look at. */
export function hasBegun(card: ToolCard): boolean {
  return ['running', 'succeeded', 'failed', 'cut'].includes(card.outcome) && !awaitsComputer(card)
}

/**
 * Where the agent is at work, or was last; while the computer is still to come that is where it appears. Its browser
 * stands on the desktop: where that is live, it is watched there, and pictures of pages are for where it is not.
 */
export function followedPlace(calls: readonly ToolCard[], isDesktopLive: boolean): Place {
  if (calls.some(awaitsComputer)) return 'desktop'
  for (const card of calls.toReversed()) {
    const place = hasBegun(card) ? placeOf(card) : null
    if (place === null) continue
    return isDesktopLive && viewOf(card).shows === 'browser' ? 'desktop' : place
  }
  return 'desktop'
}

/** The last call at work in this place, and the one before it that had something to show. */
export function latestIn(
  place: Place,
  calls: readonly ToolCard[],
): { card: ToolCard; before: ToolCard | undefined } | null {
  const isThere = (card: ToolCard): boolean => hasBegun(card) && placeOf(card) === place
  const at = calls.findLastIndex(isThere)
  const card = calls[at]
  if (!card) return null
  return { card, before: calls.slice(0, at).findLast((one) => isThere(one) && one.body !== null) }
}

/** Some of these calls used the screen, or does: what they know of it are points of a picture. */
export function usedScreen(calls: readonly ToolCard[]): boolean {
  return calls.some((card) => hasBegun(card) && ['desktop', 'browser'].includes(placeOf(card) ?? ''))
}

/** A part of the timeline: the calls from `first` to `last`, by their numbers. */
export interface Mark {
  readonly first: number
  readonly last: number
  readonly hasFailed: boolean
}

/** A mark for each call, or for as many together as it takes for `most` marks. */
export function marksOf(calls: readonly ToolCard[], most: number): Mark[] {
  const share = Math.max(1, calls.length / Math.max(1, most))
  const marks: Mark[] = []
  for (let at = 0; Math.round(at * share) < calls.length; at += 1) {
    const [first, next] = [Math.round(at * share), Math.round((at + 1) * share)]
    const part = calls.slice(first, next)
    if (part.length === 0) continue
    const hasFailed = part.some(({ outcome }) => outcome === 'failed')
    marks.push({ first, last: first + part.length - 1, hasFailed })
  }
  return marks
}
