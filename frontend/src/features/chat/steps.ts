import type { WireEvent } from '@/api/types'

/** Up to which event the agent had read when this happened. */
export function readBy(event: WireEvent): number {
  if (event.type === 'run.started') return event.seq
  return 'seen_seq' in event ? event.seen_seq : 0
}
