import { isOfAgent } from './agents'
import { isAskedPicture } from './order'
import type { AssistantItem, Item, TeamItem, ThinkingItem, ToolItem } from './transcript'
import { openWaits } from './waits'

export type Step = ToolItem | ThinkingItem | AssistantItem | TeamItem
/** Consecutive steps of a turn, shown as one line. */
export interface WorkItem {
  readonly kind: 'work'
  readonly key: string
  readonly steps: readonly Step[]
  /** Null while there is no end of it to be known. */
  readonly durationMs: number | null
}
/** The agents that a turn gave work to, each with a line of its own. */
export interface AgentsItem {
  readonly kind: 'agents'
  readonly key: string
  readonly agents: readonly ToolItem[]
}
/** What stands as one row in the conversation. */
export type Row = Item | WorkItem | AgentsItem

/** Words of this length before a call say what it is for. */
const NARRATION = 280
const WRITES: ReadonlySet<string> = new Set(['write', 'append'])
/** Such a call shows below itself what it opened. */
const OPENS = /^expose_port$/

const known = new WeakMap<Item, WorkItem>()

/**
 * The conversation with the work of each turn in one row. Answers, decisions, errors, notices, pictures that were asked for
 * and opened ports stay rows of their own, below the work they belong to. Work without a call is left as it is.
 */
export function folded(items: readonly Item[]): Row[] {
  const rows: Row[] = []
  let steps: Step[] = []
  let kept: Item[] = []
  let agents: ToolItem[] = []
  let words: AssistantItem[] = []
  /** How many rows of work this turn has so far: the time of a run is that of its only one. */
  let parts = 0
  function close(next: Item | undefined): void {
    const hasCalls = steps.some(({ kind }) => kind === 'tool')
    if (hasCalls) rows.push(work(steps, parts === 0 ? next : undefined))
    else rows.push(...steps)
    parts = next?.kind === 'user' ? 0 : parts + Number(hasCalls)
    const [first] = agents
    if (first) rows.push(agentsRow(first, agents))
    rows.push(...kept, ...words)
    agents = []
    steps = []
    kept = []
    words = []
  }
  for (const [index, item] of items.entries()) {
    if (item.kind === 'assistant') {
      if (words.length > 0 && !isNarration(item)) close(undefined)
      words.push(item)
    } else if (item.kind === 'tool' || item.kind === 'thinking' || item.kind === 'team') {
      if (!words.every(isNarration)) close(undefined)
      else steps.push(...words)
      words = []
      if (item.kind !== 'tool') steps.push(item)
      else if (isOfAgent(item)) agents.push(item)
      else if (staysOut(item, items, index)) kept.push(item)
      else steps.push(item)
    } else if (item.kind === 'note' && words.length === 0 && steps.length + agents.length > 0) {
      kept.push(item)
    } else {
      close(item)
      rows.push(item)
    }
  }
  close(undefined)
  return rows
}

function isNarration({ complete, partial, text }: AssistantItem): boolean {
  return complete && !partial && text.length <= NARRATION && !text.trim().includes('\n')
}

function staysOut(item: ToolItem, items: readonly Item[], index: number): boolean {
  return (
    openWaits(item.inner) > 0 || (OPENS.test(item.name) && item.outcome === 'succeeded') || isAskedPicture(items, index)
  )
}

function work(steps: readonly Step[], end: Item | undefined): WorkItem {
  const [first] = steps as readonly [Step]
  const durationMs = durationOf(steps, end)
  const before = known.get(first)
  const isSame =
    before?.durationMs === durationMs &&
    before.steps.length === steps.length &&
    before.steps.every((step, at) => step === steps[at])
  if (isSame) return before
  const made: WorkItem = { kind: 'work', key: `work:${first.key}`, steps, durationMs }
  known.set(first, made)
  return made
}

const knownAgents = new WeakMap<Item, AgentsItem>()

function agentsRow(first: ToolItem, agents: readonly ToolItem[]): AgentsItem {
  const before = knownAgents.get(first)
  if (before?.agents.length === agents.length && before.agents.every((one, at) => one === agents[at])) return before
  const made: AgentsItem = { kind: 'agents', key: `agents:${first.key}`, agents }
  knownAgents.set(first, made)
  return made
}

/** Of the run where it ended with this, else from its first call to the end of its last one. */
function durationOf(steps: readonly Step[], end: Item | undefined): number | null {
  if (end?.kind === 'end' && end.durationMs > 0) return end.durationMs
  const calls = callsOf(steps)
  const begins = calls.flatMap(({ startedAt }) => (startedAt === null ? [] : [Date.parse(startedAt)]))
  const ends = calls.flatMap(({ startedAt, durationMs }) =>
    startedAt === null || durationMs === null ? [] : [Date.parse(startedAt) + durationMs],
  )
  return begins.length > 0 && ends.length > 0 ? Math.max(...ends) - Math.min(...begins) : null
}

export function callsOf(steps: readonly Step[]): ToolItem[] {
  return steps.filter((step) => step.kind === 'tool')
}

/** The items that stand in these rows. */
export function itemsIn(rows: readonly Row[]): Item[] {
  return rows.flatMap((row): readonly Item[] =>
    row.kind === 'work' ? row.steps : row.kind === 'agents' ? row.agents : [row],
  )
}

/** The row whose work goes on: the last one since the last end. */
export function rowAtWork(rows: readonly Row[]): WorkItem | null {
  for (const row of rows.toReversed()) {
    if (row.kind === 'end') return null
    if (row.kind === 'work') return row
  }
  return null
}

/** Files that these calls wrote, each once. */
export function filesMade(steps: readonly Step[]): string[] {
  const paths = callsOf(steps).flatMap(({ outcome, display }) => {
    if (outcome !== 'succeeded' || !display) return []
    if (display.type === 'diff' || display.type === 'document') return [display.path]
    return display.type === 'file' && WRITES.has(display.operation) ? [display.path] : []
  })
  return [...new Set(paths.filter(Boolean))]
}
