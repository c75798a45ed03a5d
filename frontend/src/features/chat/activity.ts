import { awaitsComputer } from '@/features/tools'
import { isAwaited } from './computerState'
import { callAtWork } from './subagents'
import type { Transcript } from './transcript'

/** What goes on in the run at work, and the call it is at. */
export function activityOf({ items, live: written, run, computer }: Transcript) {
  if (run?.status === 'queued') return { kind: 'queued' as const, call: null }
  if (run?.status !== 'running') return { kind: 'idle' as const, call: null }
  const tool = callAtWork(items, isAwaited(computer))
  if (tool && computer.driver && awaitsComputer(tool)) return { kind: 'held' as const, call: tool }
  if (tool) return { kind: 'working' as const, call: tool }
  if (written.some((item) => item.kind === 'assistant')) return { kind: 'writing' as const, call: null }
  return { kind: run.isSummingUp ? ('compacting' as const) : ('thinking' as const), call: null }
}
