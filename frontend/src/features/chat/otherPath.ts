import { cutOutcome } from './calls'
import { dropLive } from './live'
import { withOpenCalls } from './subagents'
import { isActive, type Transcript } from './transcript'

/** Another path goes on from here: what was at work before it is over. */
export function otherPath(state: Transcript, seq: number): Transcript {
  const items = withOpenCalls(state.items, (item) => ({
    ...item,
    outcome: cutOutcome(item),
    output: '',
    outputPoints: 0,
  }))
  const run = isActive(state) || state.run?.status === 'waiting' ? null : state.run
  return { ...dropLive(state), items, run, branchesSeq: seq }
}
