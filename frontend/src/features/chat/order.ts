import { itemsIn, type Row } from './fold'
import type { Item, ToolItem, Transcript } from './transcript'

/** Whether the person said it after event `seq`. */
export function isLaterThan(item: Item | undefined, seq: number): boolean {
  return item?.kind === 'user' && item.seq > seq
}

/** Where in `items` begins what the person said after event `seq`; their end if `seq` is not known. */
export function unreadFrom(items: readonly Item[], seq: number): number {
  if (seq <= 0) return items.length
  let from = items.length
  for (let at = from - 1; at >= 0; at -= 1) {
    const item = items[at]
    if (item?.kind !== 'user') continue
    if (!isLaterThan(item, seq)) break
    from = at
  }
  return from
}

/** All that is shown, in order: what is being written stands where it will stand once it is stored. */
export function shownItems({ items: all, live }: Transcript): Item[] {
  const items = saidOnce(all)
  const since = live[0]?.afterSeq
  if (since === undefined) return [...items, ...live]
  const at = unreadFrom(items, since)
  return [...items.slice(0, at), ...live, ...items.slice(at)]
}

/**
 * Without the calls that a card tells of: a question or plan, and of an approval what waits for it or was refused. One that
 * is approved stands for itself, though it has to wait for the decisions on the others.
 */
export function saidOnce<T extends Item>(items: readonly T[]): readonly T[] {
  const told = new Set<string>()
  const approved = new Set<string>()
  for (const item of items as readonly Item[]) {
    if (item.kind === 'question' || item.kind === 'plan') told.add(item.callId)
    if (item.kind !== 'approval') continue
    for (const { call_id: callId } of item.calls) {
      const decision = item.decided[callId]?.decision
      if (decision && decision !== 'deny') approved.add(callId)
      else told.add(callId)
    }
  }
  if (told.size + approved.size === 0) return items
  return items
    .filter((item) => item.kind !== 'tool' || !told.has(item.callId))
    .map((item) => withApproved(item, approved))
}

function withApproved<T extends Item>(item: T, approved: ReadonlySet<string>): T {
  if (item.kind !== 'tool' || item.outcome !== 'asking' || !approved.has(item.callId)) return item
  return { ...item, outcome: 'approved' }
}

/** Where in `items` the work at hand begins; what the person says after it waits for its turn. */
export function activeFrom(rows: readonly Row[]): number {
  const at = rows.findIndex((row) => itemsIn([row]).some(isUnderWay))
  return at < 0 ? rows.length : at
}

function isUnderWay(item: Item): boolean {
  return item.kind === 'tool' ? item.outcome === 'running' : isBeingWritten(item)
}

/** Calls that look at something and do nothing else. */
const LOOKS = /^(browser_view|browser_screenshot|desktop_screenshot)$/

function isLook({ name, body }: ToolItem): boolean {
  return LOOKS.test(name) && Boolean(body?.media_type.startsWith('image/'))
}
function hasFigure({ display }: ToolItem): boolean {
  return display?.type === 'code' && display.outputs.some(({ type }) => type === 'picture')
}

/** Whether this is a picture that was asked for: a look, or a figure that code made, and the last thing that was done before a run's answer. */
export function isAskedPicture(items: readonly Item[], index: number): boolean {
  const item = items[index]
  if (item?.kind !== 'tool' || !(isLook(item) || hasFigure(item))) return false
  const next = items.slice(index + 1).find(({ kind }) => kind !== 'assistant' && kind !== 'thinking')
  return next?.kind === 'end' && next.status === 'completed'
}

function isBeingWritten(item: Item): boolean {
  return (item.kind === 'assistant' || item.kind === 'thinking') && !item.complete
}
