import type { RunFinishedEvent, WireEvent } from '@/api/types'
import { withBackground } from '@/features/background'
import { withPort } from '@/features/ports'
import { withKept } from '@/features/resources'
import { withModelCall } from '@/features/traces'
import { nameInText } from '@/shared/lib/invisibleCharacters'
import { layAgentDelta, withoutAgentOf, withoutStored } from './agentTexts'
import { backgroundNote } from './backgroundNote'
import { asking, cutOutcome, finished, started, toolItem, withOutput } from './calls'
import { isMissing, withSandboxEvent } from './computerState'
import { withHandBackNote } from './handedBack'
import { handedBack, heldBack, timeTools } from './held'
import { dropLive, layDelta, withoutLive } from './live'
import { isLaterThan, unreadFrom } from './order'
import { otherPath } from './otherPath'
import { scheduleNote } from './scheduleNote'
import { readBy } from './steps'
import { agentOf, reduceInner, withCall, withOpenCalls } from './subagents'
import { withTeamMessage, withTeammate } from './team'
import { SILENT, type Item, type NoteItem, type ToolItem, type Transcript } from './transcript'
import { begunWait, outcomeByPerson, waitedUntil, queuedRun, waitItem, withAnswer } from './waits'

/** A note of ours: the run went on in another worker. */
export const HANDED_OVER = 'run.handed_over'

type LiveEvent = Extract<WireEvent, { seq: null }>
type StoredEvent = Exclude<WireEvent, LiveEvent>

/** Applies one event. Seen before: nothing changes. Out of order: refused and counted in `gaps`. */
export function reduce(state: Transcript, event: WireEvent): Transcript {
  if (event.seq === null) return reduceLive(state, event)
  if (event.seq <= state.lastSeq) return state
  if (event.seq > state.lastSeq + 1) return { ...state, gaps: state.gaps + 1 }
  const { modelCalls, ports, kept } = state
  const told = {
    modelCalls: withModelCall(modelCalls, event),
    ports: withPort(ports, event),
    kept: withKept(kept, event),
  }
  const next = { ...state, ...told, lastSeq: event.seq }
  if (agentOf(event) !== undefined) return reduceOfAgent(next, event)
  return reduceStored({ ...next, readSeq: Math.max(state.readSeq, readBy(event)) }, event)
}

/** What an agent that works for the main one did. Its tokens are the run's. */
function reduceOfAgent(before: Transcript, event: StoredEvent): Transcript {
  const agentTexts = withoutStored(before.agentTexts, event)
  const state = agentTexts === before.agentTexts ? before : { ...before, agentTexts }
  if (event.type === 'usage.updated') return { ...state, usage: event.usage }
  if (event.type === 'teammate.updated') return { ...state, items: withTeammate(state.items, event) }
  const next = {
    ...state,
    items: reduceInner(state.items, event, isMissing(state.computer) || !!state.computer.driver),
  }
  return event.type === 'approval.requested' ? begunWait(next, event.at) : next
}

function reduceLive(state: Transcript, event: LiveEvent): Transcript {
  switch (event.type) {
    case 'message.delta':
      return layDelta(answered(state), event, 'assistant')
    case 'thinking.delta':
      return layDelta(answered(state), event, 'thinking')
    case 'agent.delta':
      return layAgentDelta(state, event)
    case 'tool.output':
      return changeTool(state, event.call_id, (item) => withOutput(item, event))
    case 'context.usage':
      return { ...state, contextTokens: event.used }
    case 'llm.retry':
      return { ...state, retry: event }
    default:
      return unknown(event, state)
  }
}

function reduceStored(state: Transcript, event: StoredEvent): Transcript {
  const key = String(event.seq)
  switch (event.type) {
    case 'run.queued':
      if (state.run?.status === 'running') return state
      return { ...state, run: queuedRun(state.run, event) }
    case 'run.started': {
      const waitedMs = waitedUntil(state.run, event.run_id, event.at)
      const before = state.run?.id === event.run_id ? state.run : null
      const isSummingUp = before?.isSummingUp ?? false
      const told = { model: event.model, startedAt: event.at, waitedMs, isSummingUp }
      const run = { id: event.run_id, status: 'running' as const, ...told }
      const goesOn = before?.status === 'running'
      const settled = { ...dropLive(answered(state)), run }
      return goesOn ? append(settled, { ...note(key, 'notice', ''), code: HANDED_OVER }) : settled
    }
    case 'run.finished':
      return finishRun(state, event)
    case 'schedule.fired':
      return append(state, scheduleNote(key, event))
    case 'message.user': {
      const { message_id: messageId, text, attachments, client_message_id: clientMessageId, at } = event
      return append(state, { kind: 'user', key, seq: event.seq, messageId, text, attachments, clientMessageId, at })
    }
    case 'message.withdrawn':
      return { ...state, items: state.items.filter((one) => one.kind !== 'user' || one.messageId !== event.message_id) }
    case 'message.completed': {
      const { message_id: messageId, text, partial } = event
      const settled = withoutLive(state, 'assistant', messageId)
      if (text === '') return settled
      const said = { kind: 'assistant', messageId, text, partial, complete: true } as const
      return place(settled, { ...said, key: `assistant:${messageId}` }, event.seen_seq)
    }
    case 'thinking.completed': {
      const { message_id: messageId, text, duration_ms: durationMs } = event
      const settled = withoutLive(state, 'thinking', messageId)
      if (text === '') return settled
      const thought = { kind: 'thinking', messageId, text, durationMs, complete: true } as const
      return place(settled, { ...thought, key: `thinking:${messageId}` }, event.seen_seq)
    }
    case 'tool.called':
      return heldBack(place(state, toolItem(event, isMissing(state.computer)), event.seen_seq), event)
    case 'tool.started':
      return heldBack(
        changeTool(state, event.call_id, (item) => started(item, event, isMissing(state.computer))),
        event,
      )
    case 'tool.finished':
      return changeTool({ ...state, agentTexts: withoutAgentOf(state, event.call_id) }, event.call_id, (item) =>
        finished(item, event, outcomeByPerson(state.items, event.call_id)),
      )
    case 'subagent.started':
      return changeTool(state, event.parent_call_id, (item) => ({
        ...item,
        agentId: event.subagent_id,
        agentKind: event.kind,
      }))
    case 'team.message':
      return { ...state, items: withTeamMessage(state.items, event) }
    case 'teammate.updated':
    case 'subagent.finished':
      return state
    case 'question.asked':
    case 'plan.proposed':
      return begunWait(append(changeTool(state, event.call_id, asking), waitItem(key, event)), event.at)
    case 'approval.requested':
      return begunWait(append(state, waitItem(key, event)), event.at)
    case 'question.answered':
    case 'approval.resolved':
    case 'plan.decided':
      return { ...state, items: state.items.map((item) => withAnswer(item, event)) }
    case 'plan.updated':
      return { ...state, steps: event.steps }
    case 'tasks.updated':
      // Of agents that work at once, one change may be stored after a later one.
      return event.version > state.tasks.version ? { ...state, tasks: event } : state
    case 'todos.updated':
      return { ...state, todos: event.todos }
    case 'background.started':
      return { ...state, background: withBackground(state.background, event) }
    case 'background.finished':
      return append({ ...state, background: withBackground(state.background, event) }, backgroundNote(key, event))
    case 'queue.updated':
      return { ...state, queue: { count: event.count, seq: event.seq } }
    case 'files.changed':
      return { ...state, filesVersion: state.filesVersion + 1 }
    case 'session.updated':
      return { ...state, title: event.title ?? state.title, model: event.model ?? state.model }
    case 'sandbox.updated':
      return timeTools(withSandboxEvent(state, event), event.at)
    case 'control.taken':
      return { ...state, computer: { ...state.computer, driver: { client: event.client, holder: event.holder } } }
    case 'control.returned':
      return withHandBackNote(handedBack(state, event.at), key, event.note ?? null)
    case 'attachment.read':
    case 'mcp.updated': // What people are to know of either is a notice beside it.
    case 'plan.entered':
    case 'port.opened':
    case 'port.closed':
    case 'resources.updated':
    case 'context.opened':
    case 'context.compaction_wanted':
    case 'llm.request':
    case 'llm.response':
      return state
    case 'context.note':
      // Of a run that was copied in part nothing is at work here.
      return event.kind === 'branched' ? otherPath(state, event.seq) : state
    case 'context.compacted': {
      const { summary, focus, before, after, transcript } = event
      // Old results as one line each are nothing a reader would miss: the conversation shows them whole.
      if (event.kind === 'micro') return { ...state, contextTokens: after }
      const item = { kind: 'compaction', key, summary, focus, before, after, transcript } as const
      return { ...append(state, item), contextTokens: after }
    }
    case 'path.selected':
      return otherPath(answered(state), event.seq)
    case 'branch.deleted':
      return { ...state, branchesSeq: event.seq }
    case 'usage.updated':
      return { ...answered(state), usage: event.usage, contextTokens: event.context || state.contextTokens }
    case 'instructions.found': {
      const params = { path: nameInText(event.path) }
      return append(state, { ...note(key, 'notice', event.path), code: 'instructions', params })
    }
    case 'notice':
      return append(state, { ...note(key, 'notice', event.text), code: event.code, params: event.params })
    case 'error':
      return append(state, { ...note(key, 'error', event.text), code: event.code })
    default:
      return unknown(event, state)
  }
}

/** The provider is waited for no longer. */
function answered(state: Transcript): Transcript {
  return state.retry === null ? state : { ...state, retry: null }
}

/** The compiler lists what is not handled; a newer server's events are passed over at run time. */
function unknown(_event: never, state: Transcript): Transcript {
  return state
}

function note(key: string, tone: NoteItem['tone'], text: string): NoteItem {
  return { kind: 'note', key, tone, text, code: null, params: {} }
}

function append(state: Transcript, item: Item): Transcript {
  return { ...state, items: [...state.items, item] }
}

/** What the agent did before it read what was said since stands above that, and an answer above the note that it was cut. */
function place(state: Transcript, item: Item, seenSeq: number): Transcript {
  const last = state.items.at(-1)
  const isCut = item.kind === 'assistant' && last?.kind === 'note' && last.code === 'length'
  const at = Math.min(unreadFrom(state.items, seenSeq), state.items.length - Number(isCut))
  return at === state.items.length ? append(state, item) : { ...state, items: state.items.toSpliced(at, 0, item) }
}

function changeTool(state: Transcript, callId: string, change: (item: ToolItem) => ToolItem): Transcript {
  const items = withCall(state.items, callId, change)
  return items === state.items ? state : { ...state, items }
}

function finishRun(state: Transcript, event: RunFinishedEvent): Transcript {
  const { run_id: runId, status, reason, retryable, files, usage } = event
  const durationMs = Math.max(event.duration_ms - waitedUntil(state.run, runId, event.at), 0)
  // The error that ends a run is said once, by its end.
  const cause = status === 'completed' ? undefined : state.items.findLast((item) => isErrorOf(item, reason))
  const items = withOpenCalls(
    state.items.filter((item) => item !== cause),
    (item) => ({ ...item, outcome: cutOutcome(item), output: '', outputPoints: 0 }),
  )
  const last = items.at(-1)
  const isSilent = status === 'completed' && last?.kind === 'note' && last.code === SILENT
  const code = isSilent ? SILENT : cause?.kind === 'note' ? cause.code : null
  const told = { status, reason, code, retryable, files, durationMs, usage }
  const end: Item = { kind: 'end', key: `end:${event.seq}`, runId, ...told }
  const run = { id: runId, status, model: state.run?.model ?? null, startedAt: state.run?.startedAt ?? event.at }
  const shown = items.toSpliced(status === 'stopped' ? stoppedAt(items, state.readSeq) : items.length, 0, end)
  return { ...dropLive(answered(state)), items: shown, run, usage: event.usage }
}

/** Below what a run did, above what it read no more; one that had done nothing is stopped below what it was to do. */
function stoppedAt(items: readonly Item[], readSeq: number): number {
  const last = items.findLastIndex((item) => !isLaterThan(item, readSeq))
  return ['assistant', 'thinking', 'tool'].includes(items[last]?.kind ?? '') ? last + 1 : items.length
}

const isErrorOf = (item: Item, reason: string | null): boolean =>
  item.kind === 'note' && item.tone === 'error' && item.text === reason
