import type { LlmRequestEvent, LlmResponseEvent, WireEvent } from '@/api/types'

export interface RequestTurn {
  readonly role: 'user' | 'note' | 'assistant' | 'tool'
  readonly text?: string
  readonly output?: string
  readonly note?: string
  readonly name?: string
  readonly success?: boolean
  readonly thinking?: readonly string[]
  readonly attachments?: readonly string[]
  readonly calls?: readonly CalledTool[]
  readonly pictures?: readonly { readonly seq: number; readonly size: number }[]
}
export interface CalledTool {
  readonly id: string
  readonly name: string
  readonly arguments: unknown
}
/** What a model was sent, or the part of it that is new; only the whole has `system` and `tools`. */
export interface RequestPayload {
  readonly model: string
  readonly max_output_tokens: number
  readonly thinking: string | null
  readonly system?: string
  readonly tools?: readonly { readonly name: string; readonly description: string }[]
  readonly turns: readonly RequestTurn[]
  readonly is_cut?: boolean
}
export interface ResponsePayload {
  readonly text: string
  readonly thinking: string
  readonly calls: readonly CalledTool[]
}

type Answered = Pick<LlmResponseEvent, 'seq' | 'outcome' | 'usage' | 'code' | 'error' | 'attempts'> & {
  readonly durationMs: number
  readonly firstMs: number | null
  /** Null: it is long, and stands beside the event, or is not kept. */
  readonly payload: ResponsePayload | null
  readonly isKept: boolean
}
/** One call of a model. Without a response it is under way, or lost: its worker ended, and nobody knows what came. */
export interface ModelCall {
  readonly number: number
  readonly seq: number
  readonly role: LlmRequestEvent['role']
  readonly agentId: string | null
  readonly model: string
  readonly at: string
  readonly turnCount: number
  /** It begins with what was sent before, which stands in events before its own. */
  readonly hasEarlier: boolean
  readonly payload: RequestPayload | null
  /** Else the user's stored calls had reached their limit. */
  readonly isKept: boolean
  readonly response: Answered | null
  readonly isLost: boolean
}

/** The calls after one more event of the session. */
export function withModelCall(calls: readonly ModelCall[], event: WireEvent): readonly ModelCall[] {
  switch (event.type) {
    case 'llm.request':
      return [...calls, asked(event)]
    case 'llm.response': {
      const index = calls.findLastIndex((call) => call.number === event.number && isTitle(call) === isTitle(event))
      const call = calls[index]
      return call ? calls.with(index, { ...call, response: answered(event), isLost: false }) : calls
    }
    case 'run.started':
    case 'run.finished':
      return calls.some(isOpen) ? calls.map((call) => (isOpen(call) ? { ...call, isLost: true } : call)) : calls
    default:
      return calls
  }
}

/** These are numbered by themselves. */
function isTitle({ role }: Pick<ModelCall, 'role'>): boolean {
  return role === 'title'
}

function isOpen(call: ModelCall): boolean {
  return call.response === null && !call.isLost
}

function asked(event: LlmRequestEvent): ModelCall {
  const { number, seq, role, model, at, turn_count: turnCount, extends: earlier } = event
  return {
    ...{ number, seq, role, model, at, turnCount },
    agentId: event.agent_id ?? null,
    hasEarlier: earlier.length > 0,
    payload: event.payload as RequestPayload | null,
    isKept: !event.omitted,
    response: null,
    isLost: false,
  }
}

function answered(event: LlmResponseEvent): Answered {
  const { seq, outcome, usage, code, error, attempts, duration_ms: durationMs, first_ms: firstMs } = event
  return {
    ...{ seq, outcome, usage, code, error, attempts, durationMs, firstMs },
    payload: event.payload as ResponsePayload | null,
    isKept: !event.omitted,
  }
}
