import { titleOf } from './subagents'
import type { Item, ToolItem } from './transcript'

/** The agents that work, or worked, for the one the person talks to, in the order in which they began. */
export function agentsOf(items: readonly Item[]) {
  return items.filter((item): item is ToolItem => item.kind === 'tool' && item.agentId !== null).map(agentOf)
}

function agentOf(item: ToolItem) {
  const calls = item.inner.filter((one): one is ToolItem => one.kind === 'tool')
  const said = item.inner.findLast((one) => one.kind === 'assistant')
  return {
    key: item.key,
    name: titleOf(item),
    kind: item.teammate?.role || item.agentKind,
    state: stateOf(item),
    latest: calls.findLast(({ outcome }) => outcome === 'running') ?? calls.at(-1) ?? null,
    calls: calls.length,
    said: said?.kind === 'assistant' ? said.text : '',
  }
}

type State = 'working' | 'resting' | 'done' | 'failed' | 'stopped'

function stateOf({ outcome, teammate }: ToolItem): State {
  if (teammate) return teammate.status === 'left' ? 'done' : teammate.status === 'working' ? 'working' : 'resting'
  if (outcome === 'running' || outcome === 'asking') return 'working'
  return outcome === 'succeeded' ? 'done' : outcome === 'failed' ? 'failed' : 'stopped'
}

/** The calls since the last run ended: those of the one at work. */
export function callsOfRun(items: readonly Item[]): ToolItem[] {
  const since = items.slice(items.findLastIndex((item) => item.kind === 'end') + 1)
  return since.filter((item): item is ToolItem => item.kind === 'tool')
}
