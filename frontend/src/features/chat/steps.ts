import type { WireEvent } from '@/api/types'
import type { Transcript } from './transcript'

/** Each ends what the agent wrote before, or begins what it writes next. */
export const STEPS: ReadonlySet<WireEvent['type']> = new Set([
  'run.started',
  'run.finished',
  'message.completed',
  'thinking.completed',
  'tool.called',
  'tool.finished',
])

/** Up to which event the agent had read when this happened. */
export function readBy(event: WireEvent): number {
  if (event.type === 'run.started') return event.seq
  return 'seen_seq' in event ? event.seen_seq : 0
}

/** Behind which event a text began whose first piece comes now. Said before its step ended, a message waits for it. */
export function begunAfter({ lastSeq, stepSeq, joinedSeq }: Transcript): number {
  return joinedSeq > 0 && stepSeq <= joinedSeq ? stepSeq : lastSeq
}
