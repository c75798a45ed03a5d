import { titleOf } from './subagents'
import type { AgentText, Item, ToolItem } from './transcript'
import { openWaits } from './waits'

/** The calls that are given to agents, in the order in which these began. */
export function agentsOf(items: readonly Item[]): ToolItem[] {
  return items.filter(isOfAgent)
}

export function isOfAgent(item: Item): item is ToolItem {
  return item.kind === 'tool' && item.agentId !== null
}

export type AgentState = 'working' | 'waiting' | 'resting' | 'done' | 'failed' | 'stopped'

/** One that works, or worked, for the one the person talks to. */
export function agentView(item: ToolItem) {
  const calls = item.inner.filter((one): one is ToolItem => one.kind === 'tool')
  const said = item.inner.findLast((one) => one.kind === 'assistant')
  return {
    name: titleOf(item),
    kind: item.teammate?.role || item.agentKind,
    state: stateOf(item),
    latest: calls.findLast(({ outcome }) => outcome === 'running') ?? calls.at(-1) ?? null,
    steps: calls.length,
    said: said?.kind === 'assistant' ? said.text : '',
  }
}

function stateOf({ outcome, teammate, inner }: ToolItem): AgentState {
  if (openWaits(inner) > 0) return 'waiting'
  if (teammate?.reason === 'failed') return 'failed'
  if (teammate) return teammate.status === 'left' ? 'done' : teammate.status === 'working' ? 'working' : 'resting'
  if (outcome === 'running' || outcome === 'asking') return 'working'
  return outcome === 'succeeded' ? 'done' : outcome === 'failed' ? 'failed' : 'stopped'
}

/** How long it has been at it by `now`; null where nobody knows. */
export function workedMs({ teammate, startedAt, durationMs }: ToolItem, state: AgentState, now: number): number | null {
  const isOver = state !== 'working' && state !== 'waiting'
  if (!teammate && isOver) return durationMs
  const since = teammate?.since ?? startedAt
  if (!since) return null
  const until = isOver && teammate?.at ? Date.parse(teammate.at) : now
  return Math.max(0, until - Date.parse(since))
}

/** What it writes at this moment, if it does. */
export function writtenBy(texts: readonly AgentText[], { agentId }: ToolItem): readonly AgentText[] {
  return texts.filter((text) => text.agentId === agentId)
}

/** The calls since the last run ended: those of the one at work. */
export function callsOfRun(items: readonly Item[]): ToolItem[] {
  const since = items.slice(items.findLastIndex((item) => item.kind === 'end') + 1)
  return since.filter((item): item is ToolItem => item.kind === 'tool')
}
