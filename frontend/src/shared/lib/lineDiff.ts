/** A line of a difference, or how many lines in between are the same. */
export type DiffLine =
  | { readonly kind: 'same' | 'gone' | 'new'; readonly text: string }
  | { readonly kind: 'skipped'; readonly count: number }

/** Lines around a change that are shown with it. */
const CONTEXT = 3
/** Of larger parts it would take too long to find what they share: the whole part counts as changed. */
const MOST_CELLS = 4_000_000

type WholeLine = Exclude<DiffLine, { kind: 'skipped' }>

/** What changes from one text to another, line by line, with some of what stands around it. Each change is in it. */
export function lineDiff(before: string, after: string): DiffLine[] {
  return folded(wholeDiff(before, after))
}

/** The same with all lines of both. */
export function wholeDiff(before: string, after: string): WholeLine[] {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  let start = 0
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start += 1
  let end = 0
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1
  const same = (text: string): WholeLine => ({ kind: 'same', text })
  return [
    ...old.slice(0, start).map(same),
    ...changes(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...old.slice(old.length - end).map(same),
  ]
}

function changes(old: readonly string[], fresh: readonly string[]): WholeLine[] {
  const columns = fresh.length + 1
  if (old.length * fresh.length > MOST_CELLS) return [...marked('gone', old), ...marked('new', fresh)]
  // How many lines the rests from there on share.
  const shared = new Uint32Array((old.length + 1) * columns)
  const at = (row: number, column: number): number => shared[row * columns + column] ?? 0
  for (let row = old.length - 1; row >= 0; row -= 1)
    for (let column = fresh.length - 1; column >= 0; column -= 1)
      shared[row * columns + column] =
        old[row] === fresh[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
  const lines: WholeLine[] = []
  let [row, column] = [0, 0]
  while (row < old.length || column < fresh.length) {
    const [gone, come] = [old[row], fresh[column]]
    if (gone !== undefined && gone === come) {
      lines.push({ kind: 'same', text: gone })
      row += 1
      column += 1
    } else if (come === undefined || (gone !== undefined && at(row + 1, column) >= at(row, column + 1))) {
      lines.push({ kind: 'gone', text: gone ?? '' })
      row += 1
    } else {
      lines.push({ kind: 'new', text: come })
      column += 1
    }
  }
  return lines
}

const marked = (kind: 'gone' | 'new', lines: readonly string[]): WholeLine[] => lines.map((text) => ({ kind, text }))

/** Without the lines that are far from any change. */
function folded(lines: readonly WholeLine[]): DiffLine[] {
  const near = new Set<number>()
  lines.forEach(({ kind }, index) => {
    if (kind === 'same') return
    for (let other = index - CONTEXT; other <= index + CONTEXT; other += 1) near.add(other)
  })
  const shown: DiffLine[] = []
  let skipped = 0
  const close = (): void => {
    if (skipped > 0) shown.push({ kind: 'skipped', count: skipped })
    skipped = 0
  }
  lines.forEach((line, index) => {
    if (!near.has(index)) return void (skipped += 1)
    close()
    shown.push(line)
  })
  close()
  return shown
}
