import type { FileDisplay } from '@/api/generated/events'
import { allCalls } from './subagents'
import type { EndItem, Item, ToolItem } from './transcript'

/** What a run did to a file, as far as its calls say it; `isKnown` is false where only that it changed is. */
export interface FileChange {
  readonly path: string
  readonly added: number
  readonly removed: number
  readonly isKnown: boolean
  /** It was there before, and is deleted. */
  readonly isRemoved?: boolean
  /** Its differences are too long to be shown. */
  readonly isCut?: boolean
  /** It was written over, and nobody knows what that removed: `removed` does not count it. */
  readonly isRewritten?: boolean
  readonly diffs: readonly string[]
}
const known = new WeakMap<EndItem, readonly FileChange[]>()

/** The files that changed in the run that ends with `end`, with the differences that its calls show. */
export function changesOf(items: readonly Item[], end: EndItem): readonly FileChange[] {
  const before = known.get(end)
  if (before) return before
  const at = items.indexOf(end)
  const from = items.findLastIndex(({ kind }, index) => kind === 'end' && index < at)
  const calls = at < 0 ? [] : allCalls(items.slice(from + 1, at))
  const diffs = new Map<string, string[]>()
  const made = new Set<string>()
  const rewritten = new Set<string>()
  for (const call of calls) {
    const [path, diff] = diffIn(call) ?? []
    if (path === undefined || diff === undefined) continue
    const own = diffs.get(path) ?? []
    if (writesBlindly(call)) {
      if (call.display.replaced === false && own.length === 0) made.add(path)
      if (!made.has(path)) rewritten.add(path)
    }
    diffs.set(path, diff === '' ? own : [...own, diff])
  }
  const changes = end.files.map((path): FileChange => {
    const own = diffs.get(plain(path))
    const count = (mark: RegExp): number => (own ?? []).reduce((sum, diff) => sum + (diff.match(mark)?.length ?? 0), 0)
    const [added, removed] = [count(/^\+(?!\+\+ )/gm), count(/^-(?!-- )/gm)]
    return { path, added, removed, isKnown: !!own, isRewritten: rewritten.has(plain(path)), diffs: own ?? [] }
  })
  if (at >= 0) known.set(end, changes)
  return changes
}

const plain = (path: string): string => path.replace(/^\/?workspace\//, '').replace(/^\.\//, '')

/** A call that wrote a whole file, and does not tell what changed by that. */
const writesBlindly = (call: ToolItem): call is ToolItem & { display: FileDisplay } =>
  call.display?.type === 'file' && call.display.operation === 'write' && typeof call.display.diff !== 'string'

/** What a call changed; of a file that was written, and no more is known of it, all that it holds now is new. */
function diffIn({ outcome, display, arguments: given }: ToolItem): [path: string, diff: string] | null {
  if (outcome !== 'succeeded' || !display) return null
  if (display.type === 'diff') return [plain(display.path), display.diff]
  const text = given['content'] ?? given['text']
  if (display.type !== 'file' || typeof text !== 'string') return null
  if (typeof display.diff === 'string') return [plain(display.path), display.diff]
  if (display.operation !== 'write' && display.operation !== 'append') return null
  const lines = text.replace(/\n$/, '').split('\n')
  return [plain(display.path), lines.map((line) => `+${line}`).join('\n')]
}
