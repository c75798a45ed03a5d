import type { SessionState, WireEvent } from '@/api/types'
import { keptOf } from '@/features/resources'
import { viewOf } from './computerState'
import { emptyTranscript, type RunView, type Transcript } from './transcript'

type Told = Pick<SessionState, 'run'>

/**
 * What is known of a conversation before the first of `events`, its last ones: as it is now, where they tell nothing newer of
 * it themselves.
 */
export function seedOf(opened: SessionState | null, events: readonly WireEvent[]): Transcript {
  const first = events[0]?.seq ?? 1
  if (opened === null || first === 1) return emptyTranscript
  const { session, sandbox, plan, tasks = [], todos = [], background = [], resources = [], queue } = opened
  return {
    ...emptyTranscript,
    lastSeq: first - 1,
    run: runOf(opened, events),
    computer: sandbox ? viewOf(sandbox, 0) : emptyTranscript.computer,
    steps: plan?.steps ?? [],
    tasks: { version: 0, tasks },
    todos,
    background: background.map((one) => ({
      id: one.background_id,
      command: one.command,
      startedAt: one.began_at,
      timeoutS: one.timeout_s,
      ...{ state: 'running' as const, exitCode: null, preview: '', durationMs: null, bodySeq: null },
    })),
    ports: resources.filter((one) => 'port' in one),
    kept: keptOf(resources),
    queue: { count: queue?.items.length ?? 0, seq: 0 },
    title: session.title,
    model: session.model,
  }
}

/** The run that goes on, where its own events are all older. */
function runOf({ run }: Told, events: readonly WireEvent[]): RunView | null {
  if (!run || events.some(({ type, run_id: id }) => id === run.id && /^run\./.test(type))) return null
  return { id: run.id, status: run.status, model: null, startedAt: run.started_at ?? run.created_at }
}
