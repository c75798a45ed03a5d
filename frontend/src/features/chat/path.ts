import type { WireEvent } from '@/api/types'
import { reduce } from './reducer'
import type { Transcript } from './transcript'

/** Of the events before number `since` those in `ranges` are shown, each the first and the last of some; null: all are. */
export interface ShownPath {
  readonly ranges: readonly (readonly number[])[] | null
  readonly since: number
}
export const wholePath: ShownPath = { ranges: null, since: 0 }

export function isOnPath({ ranges, since }: ShownPath, seq: number): boolean {
  if (ranges === null || seq >= since) return true
  return ranges.some(([first = 0, last = 0]) => seq >= first && seq <= last)
}

/**
 * Applies the next event that was read of a path, which leaves out others. What is not on it changes the computer and the
 * settings, and is nothing that was said.
 */
export function reduceRead(state: Transcript, event: WireEvent, path: ShownPath): Transcript {
  if (event.seq === null) return state
  const next = reduce({ ...state, lastSeq: event.seq - 1 }, event)
  if (isOnPath(path, event.seq)) return next
  const { items, live, run, contextTokens, usage, retry } = state
  return { ...next, items, live, run, contextTokens, usage, retry }
}
