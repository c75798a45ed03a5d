import type { ToolCalledEvent, ToolStartedEvent } from '@/api/types'
import { isAwaited, isMissing } from './computerState'
import { withCall, withOpenCalls } from './subagents'
import type { Transcript } from './transcript'
import { waitedUntil } from './waits'

/** While a person controls the computer nothing starts: a call of that time begins once they hand it back, and until
 *  then neither it nor the run takes time. */
export function heldBack(state: Transcript, event: ToolCalledEvent | ToolStartedEvent): Transcript {
  const { run } = state
  if (!state.computer.driver || run?.status !== 'running') return state
  let isHeld = false
  const items = withCall(state.items, event.call_id, (item) => {
    if (item.outcome !== 'running') return item
    isHeld = true
    return { ...item, startedAt: null }
  })
  return isHeld ? { ...state, items, run: { ...run, waitsSince: run.waitsSince ?? event.at } } : state
}

/** The person handed the computer back: what waited for that begins. */
export function handedBack(state: Transcript, at: string): Transcript {
  const { run } = state
  const computer = { ...state.computer, driver: null }
  const items = withOpenCalls(state.items, (item) =>
    item.outcome === 'running' && item.startedAt === null && !(item.needsComputer && isMissing(computer))
      ? { ...item, startedAt: at }
      : item,
  )
  const isOver = run?.status === 'running' && run.waitsSince
  const goesOn = isOver ? { ...run, waitedMs: waitedUntil(run, run.id, at), waitsSince: null } : run
  return { ...state, computer, items, run: goesOn }
}

/** What runs on the computer begins once that is there; until then no time of it passes. */
export function timeTools(state: Transcript, at: string): Transcript {
  const isReady = state.computer.status === 'ready'
  if (!isReady && !isAwaited(state.computer)) return state
  const items = withOpenCalls(state.items, (item) =>
    item.outcome === 'running' && item.needsComputer
      ? { ...item, startedAt: isReady ? (item.startedAt ?? (state.computer.driver ? null : at)) : null }
      : item,
  )
  return { ...state, items }
}
