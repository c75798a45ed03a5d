import type { SandboxState, SandboxUpdatedEvent } from '@/api/types'
import { isActive, type ComputerView, type Transcript } from './transcript'

type Told = Pick<SandboxUpdatedEvent, 'status' | 'reason' | 'has_desktop' | 'queue_position' | 'queue_reason'>

/** The computer as event `seq`, or an answer after it, tells of it. */
export function viewOf(told: Told, seq: number): ComputerView {
  const { reason, has_desktop: hasDesktop, queue_position: queuePosition } = told
  const status = told.status === 'starting' && queuePosition ? 'queued' : told.status
  return {
    seq,
    status,
    reason,
    hasDesktop,
    queuePosition,
    isAtOwnLimit: told.queue_reason === 'user_limit',
    warning: null,
  }
}

/** It is on its way: who needs it waits. */
export function isAwaited({ status }: Pick<ComputerView, 'status'>): boolean {
  return status === 'starting' || status === 'queued'
}

/** There is none that what needs it could run on: it waits for the one that it makes start. */
export function isMissing(computer: Pick<ComputerView, 'status'>): boolean {
  return isAwaited(computer) || computer.status === 'none' || computer.status === 'gone'
}

/** An event of the stream; one that a look already knew of changes nothing. */
export function withSandboxEvent(state: Transcript, event: SandboxUpdatedEvent & { readonly seq: number }): Transcript {
  return event.seq > state.computer.seq
    ? { ...state, computer: { ...viewOf(event, event.seq), driver: state.computer.driver } }
    : state
}

/** The answer to a request. What the stream told after the computer was looked at is newer and stays. */
export function withSandboxAnswer(state: Transcript, answer: SandboxState): Transcript {
  const { computer } = state
  if (answer.seq < computer.seq) return state
  // A start that goes on is the stream's to tell, step by step: at first the computer is nowhere yet. Once the run is
  // over nobody tells any more.
  if (answer.status === 'none' && isAwaited(computer) && isActive(state)) return state
  const { notice, ends_at: endsAt, expires_at: expiresAt } = answer
  const warning = notice && endsAt && answer.status === 'ready' ? { endsAt, expiresAt } : null
  return { ...state, computer: { ...viewOf(answer, answer.seq), driver: computer.driver, warning } }
}
