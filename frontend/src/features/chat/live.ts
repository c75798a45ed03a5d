import type { MessageDeltaEvent, ThinkingDeltaEvent } from '@/api/types'
import { countPoints } from '@/shared/lib/codepoints'
import { layPiece } from '@/shared/lib/pieces'
import type { LiveItem, Transcript } from './transcript'

type Delta = MessageDeltaEvent | ThinkingDeltaEvent

/** What is being written, piece by piece, until it is stored. */
export function layDelta(state: Transcript, event: Delta, kind: LiveItem['kind']): Transcript {
  const { message_id: messageId, offset, text } = event
  const shown = state.live.findIndex((item) => item.kind === kind && item.messageId === messageId)
  const item = state.live[shown]
  if (!item) {
    if (isSettled(state, kind, messageId)) return state
    if (offset > 0) return { ...state, gaps: state.gaps + 1 }
    const afterSeq = event.seen_seq > 0 ? event.seen_seq : state.lastSeq
    const begun = { ...liveItem(kind, event), afterSeq }
    return { ...state, live: [...withThoughtsOver(state.live, event, kind), begun] }
  }
  const laid = layPiece({ text: item.text, points: item.points ?? countPoints(item.text) }, offset, text)
  if (!laid) return { ...state, gaps: state.gaps + 1 }
  if (laid.text === item.text) return state
  const live = state.live.with(shown, { ...item, text: laid.text, points: laid.points })
  return { ...state, live: withThoughtsOver(live, event, kind) }
}

export function dropLive(state: Transcript): Transcript {
  return state.live.length + state.agentTexts.length === 0 ? state : { ...state, live: [], agentTexts: [] }
}

export function withoutLive(state: Transcript, kind: LiveItem['kind'], messageId: string): Transcript {
  const live = state.live.filter((item) => item.kind !== kind || item.messageId !== messageId)
  return live.length === state.live.length ? state : { ...state, live }
}

/** Who speaks has thought: a thought is stored with the whole answer only. */
function withThoughtsOver(live: readonly LiveItem[], event: Delta, kind: LiveItem['kind']): readonly LiveItem[] {
  if (kind !== 'assistant' || live.every((item) => item.kind !== 'thinking' || item.complete)) return live
  return live.map((item) => {
    if (item.kind !== 'thinking' || item.complete) return item
    const durationMs = item.startedAt ? Math.max(Date.parse(event.at) - Date.parse(item.startedAt), 0) : null
    return { ...item, complete: true, durationMs }
  })
}

function isSettled(state: Transcript, kind: LiveItem['kind'], messageId: string): boolean {
  return state.items.some((item) => item.kind === kind && item.messageId === messageId)
}

function liveItem(kind: LiveItem['kind'], { message_id: messageId, text, at }: Delta): LiveItem {
  const shared = { key: `${kind}:${messageId}`, messageId, text, complete: false }
  return kind === 'assistant'
    ? { kind, ...shared, partial: false }
    : { kind, ...shared, durationMs: null, startedAt: at }
}

/** Of what is being written there is more, and nothing else is new. */
export function differsInTextAlone(shown: Transcript, next: Transcript): boolean {
  if (next.live.length + next.agentTexts.length === 0 || next.live.length !== shown.live.length) return false
  const isSame = next.live.every(
    ({ key, complete }, at) => shown.live[at]?.key === key && shown.live[at].complete === complete,
  )
  const isText = (name: keyof Transcript): boolean => name === 'live' || name === 'agentTexts'
  return (
    isSame && (Object.keys(next) as (keyof Transcript)[]).every((name) => isText(name) || next[name] === shown[name])
  )
}
