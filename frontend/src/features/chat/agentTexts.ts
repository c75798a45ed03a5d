import type { AgentDeltaEvent, WireEvent } from '@/api/types'
import { layPiece, noPieces } from '@/shared/lib/pieces'
import type { AgentText, ToolItem, Transcript } from './transcript'

/** What an agent that works for the main one writes, piece by piece, until it is stored. */
export function layAgentDelta(state: Transcript, event: AgentDeltaEvent): Transcript {
  const { agent_id: agentId = '', message_id: messageId, offset } = event
  const kind = event.kind === 'text' ? 'assistant' : 'thinking'
  const at = state.agentTexts.findIndex((one) => one.messageId === messageId && one.kind === kind)
  const before = state.agentTexts[at]
  if (!before && !isAwaited(state, agentId, messageId)) return state
  const laid = layPiece(before ?? noPieces, offset, event.text)
  if (!laid) return { ...state, gaps: state.gaps + 1 }
  if (before?.text === laid.text) return state
  const text: AgentText = { key: `${kind}:${messageId}`, agentId, messageId, kind, ...laid }
  return { ...state, agentTexts: before ? state.agentTexts.with(at, text) : [...state.agentTexts, text] }
}

/** The agent is at work in what is shown here, and this is not stored. */
function isAwaited({ items }: Transcript, agentId: string, messageId: string): boolean {
  const call = items.findLast((item): item is ToolItem => item.kind === 'tool' && item.agentId === agentId)
  if (!call) return false
  const isStored = call.inner.some((one) => 'messageId' in one && one.messageId === messageId)
  return !isStored && (call.teammate ? call.teammate.status !== 'left' : call.outcome === 'running')
}

/** What such an agent was writing is over with what is stored of it: with a message, with its next call, or as it rests. */
export function withoutStored(texts: Transcript['agentTexts'], event: WireEvent): Transcript['agentTexts'] {
  switch (event.type) {
    case 'message.completed':
    case 'thinking.completed':
      return without(texts, ({ messageId }) => messageId === event.message_id)
    case 'tool.called':
      return without(texts, ({ agentId }) => agentId === event.agent_id)
    case 'teammate.updated':
      return event.status === 'working' ? texts : without(texts, ({ agentId }) => agentId === event.agent_id)
    default:
      return texts
  }
}

/** The call has its result, and with it the agent that worked on it is done; a teammate goes on. */
export function withoutAgentOf(state: Transcript, callId: string): Transcript['agentTexts'] {
  if (state.agentTexts.length === 0) return state.agentTexts
  const call = state.items.findLast((item): item is ToolItem => item.kind === 'tool' && item.callId === callId)
  if (!call?.agentId || call.teammate) return state.agentTexts
  return without(state.agentTexts, ({ agentId }) => agentId === call.agentId)
}

function without(texts: Transcript['agentTexts'], isOver: (text: AgentText) => boolean): Transcript['agentTexts'] {
  return texts.some(isOver) ? texts.filter((text) => !isOver(text)) : texts
}
