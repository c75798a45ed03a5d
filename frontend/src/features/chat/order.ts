import type { Item, Transcript } from './transcript'

/** Whether the person said it after event `seq`. */
export function isLaterThan(item: Item | undefined, seq: number): boolean {
  return item?.kind === 'user' && item.seq > seq
}

/** All that is shown, in order: what is being written stands where it will stand once it is stored. */
export function shownItems({ items, live }: Transcript): Item[] {
  const since = live[0]?.afterSeq
  if (since === undefined) return [...items, ...live]
  let at = items.length
  while (at > 0 && isLaterThan(items[at - 1], since)) at -= 1
  return [...items.slice(0, at), ...live, ...items.slice(at)]
}

/** Where in `items` the work at hand begins; what the person says after it waits for its turn. */
export function activeFrom(items: readonly Item[]): number {
  const at = items.findIndex((item) => (item.kind === 'tool' ? item.outcome === 'running' : isBeingWritten(item)))
  return at < 0 ? items.length : at
}

function isBeingWritten(item: Item): boolean {
  return (item.kind === 'assistant' || item.kind === 'thinking') && !item.complete
}
