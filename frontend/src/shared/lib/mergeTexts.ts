import { wholeDiff } from './lineDiff'

/** Lines of the text that both began with, from `start` to before `end`, and what stands in their place. */
interface Change {
  readonly start: number
  readonly end: number
  readonly lines: readonly string[]
}

/** Both changes of one text put together, line by line; null where they change the same lines. */
export function mergeTexts(base: string, mine: string, theirs: string): string | null {
  const both = [...changesOf(base, mine)]
  for (const change of changesOf(base, theirs)) {
    if (both.some((one) => isSame(one, change))) continue
    if (both.some((one) => clashes(one, change))) return null
    both.push(change)
  }
  const old = base.split('\n')
  const merged: string[] = []
  let at = 0
  for (const { start, end, lines } of both.sort((one, other) => one.start - other.start || one.end - other.end)) {
    merged.push(...old.slice(at, start), ...lines)
    at = end
  }
  return [...merged, ...old.slice(at)].join('\n')
}

const isSame = (one: Change, other: Change): boolean =>
  one.start === other.start && one.end === other.end && one.lines.join('\n') === other.lines.join('\n')

/** Lines that are put in at the edge of a changed part stand beside it; at one and the same place nobody knows the order. */
const clashes = (one: Change, other: Change): boolean =>
  one.start === other.start && one.end === other.end ? true : one.start < other.end && other.start < one.end

function changesOf(base: string, text: string): Change[] {
  const changes: Change[] = []
  let at = 0
  let open: { start: number; lines: string[] } | null = null
  const close = (): void => {
    if (open) changes.push({ start: open.start, end: at, lines: open.lines })
    open = null
  }
  for (const { kind, text: line } of wholeDiff(base, text)) {
    if (kind === 'same') close()
    else open ??= { start: at, lines: [] }
    if (kind === 'new') open?.lines.push(line)
    else at += 1
  }
  close()
  return changes
}
