import type { WireEvent } from '@/api/types'
import { givenTask } from '@/features/tools'
import { finished, isOpenCall, started, toolItem } from './calls'
import type { Item, ToolItem } from './transcript'
import { approvalItem, outcomeByPerson, withDecision } from './waits'

type Inner = ToolItem['inner']

/** Whose event it is; undefined for the main agent's, and for what is the session's or the run's. */
export function agentOf(event: WireEvent): string | undefined {
  return 'agent_id' in event ? event.agent_id : undefined
}

/** Applies what an agent that works on a call of the main one says and calls: it stands in that call, nowhere else. */
export function reduceInner(items: readonly Item[], event: WireEvent, waits: boolean): readonly Item[] {
  const agentId = agentOf(event)
  const index = items.findLastIndex((item) => item.kind === 'tool' && item.agentId === agentId)
  const call = items[index]
  if (call?.kind !== 'tool') return items
  const inner = withEvent(call.inner, event, waits)
  return inner === call.inner ? items : items.with(index, { ...call, inner })
}

function withEvent(inner: Inner, event: WireEvent, waits: boolean): Inner {
  switch (event.type) {
    case 'message.completed': {
      const { message_id: messageId, text, partial } = event
      if (text === '') return inner
      return [...inner, { kind: 'assistant', key: `assistant:${messageId}`, messageId, text, partial, complete: true }]
    }
    case 'thinking.completed': {
      const { message_id: messageId, text, duration_ms: durationMs } = event
      if (text === '') return inner
      return [...inner, { kind: 'thinking', key: `thinking:${messageId}`, messageId, text, durationMs, complete: true }]
    }
    case 'tool.called':
      return [...inner, toolItem(event, waits)]
    case 'tool.started':
      return withInnerCall(inner, event.call_id, (item) => started(item, event, waits))
    case 'tool.finished':
      return withInnerCall(inner, event.call_id, (item) => finished(item, event, outcomeByPerson(inner, event.call_id)))
    case 'approval.requested':
      return [...inner, approvalItem(`approval:${event.seq}`, event)]
    case 'approval.resolved':
      return inner.map((item) => (item.kind === 'approval' ? withDecision(item, event) : item))
    default:
      return inner
  }
}

/** The call the person is told of: one of the agent they talk to or, where that has none, one of another agent that
 *  can't begin before the computer is there. */
export function callAtWork(items: readonly Item[], needsWait: boolean): ToolItem | null {
  const isAtWork = (item: Item): item is ToolItem => item.kind === 'tool' && item.outcome === 'running'
  const own = items.findLast(isAtWork)
  if (own || !needsWait) return own ?? null
  const inner = items.flatMap((item) => (item.kind === 'tool' ? item.inner : []))
  return inner.filter(isAtWork).findLast(({ needsComputer }) => needsComputer) ?? null
}

/** All calls: what other agents do on a call comes before the next one of the agent they work for. */
export function allCalls(items: readonly Item[]): readonly ToolItem[] {
  return items.flatMap((item) => (item.kind === 'tool' ? [item, ...allCalls(item.inner)] : []))
}

/** What an agent is given, in a few words. */
export function titleOf({ arguments: given, phrase, teammate }: ToolItem): string {
  if (teammate) return teammate.name
  const title = givenTask(given)
  return typeof title === 'string' ? title : phrase
}

function withInnerCall(inner: Inner, callId: string, change: (item: ToolItem) => ToolItem): Inner {
  return inner.map((one) => (one.kind === 'tool' && one.callId === callId && isOpenCall(one) ? change(one) : one))
}

/** The last call of this id, wherever it stands, changed. */
export function withCall(
  items: readonly Item[],
  callId: string,
  change: (item: ToolItem) => ToolItem,
): readonly Item[] {
  const index = items.findLastIndex(
    (item) => item.kind === 'tool' && (item.callId === callId || item.inner.some((one) => isCall(one, callId))),
  )
  const item = items[index]
  if (item?.kind !== 'tool') return items
  if (item.callId === callId) {
    const changed = isOpenCall(item) ? change(item) : item
    return changed === item ? items : items.with(index, changed)
  }
  return items.with(index, { ...item, inner: withInnerCall(item.inner, callId, change) })
}

function isCall(item: Inner[number], callId: string): boolean {
  return item.kind === 'tool' && item.callId === callId
}

/** Each call at work changed, wherever it stands. */
export function withOpenCalls(items: readonly Item[], change: (item: ToolItem) => ToolItem): readonly Item[] {
  return items.map((item) => (item.kind === 'tool' ? changedDeep(item, change) : item))
}

function changedDeep(item: ToolItem, change: (item: ToolItem) => ToolItem): ToolItem {
  const inner = item.inner.map((one) => (one.kind === 'tool' ? changedDeep(one, change) : one))
  const changed = isOpenCall(item) ? change(item) : item
  return item.inner.length > 0 ? { ...changed, inner } : changed
}
