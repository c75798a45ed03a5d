import type { ToolCalledEvent, ToolFinishedEvent, ToolOutputEvent, ToolStartedEvent } from '@/api/types'
import { awaitsComputer } from '@/features/tools'
import { countPoints } from '@/shared/lib/codepoints'
import { keepTail } from '@/shared/lib/pieces'
import type { ToolItem, ToolOutcome } from './transcript'

/** Live output kept for display; the whole of it is the event's body. */
const OUTPUT_KEPT = 200_000

/** A call as it begins. */
export function toolItem(event: ToolCalledEvent, waits: boolean): ToolItem {
  return {
    kind: 'tool',
    agentId: null,
    agentKind: null,
    teammate: null,
    inner: [],
    key: `tool:${event.seq}`,
    callId: event.call_id,
    name: event.name,
    arguments: event.arguments,
    phrase: event.phrase,
    outcome: event.asks ? 'asking' : 'running',
    needsComputer: event.needs_computer,
    startedAt: event.asks || (waits && event.needs_computer) ? null : event.at,
    durationMs: null,
    output: '',
    outputPoints: 0,
    preview: '',
    display: null,
    body: null,
  }
}

/** One that asked and now runs. */
export function started(item: ToolItem, event: ToolStartedEvent, waits: boolean): ToolItem {
  return { ...item, outcome: 'running', startedAt: waits && item.needsComputer ? null : event.at }
}

/** One that wrote more; what comes after a gap is left out. */
export function withOutput(item: ToolItem, event: ToolOutputEvent): ToolItem {
  if (event.offset > item.outputPoints && item.outputPoints > 0) return item
  const fresh = event.offset + countPoints(event.text) - item.outputPoints
  if (fresh <= 0) return item
  const points = [...event.text]
  const output = item.output + points.slice(Math.max(0, points.length - fresh)).join('')
  return { ...item, output: keepTail(output, OUTPUT_KEPT), outputPoints: event.offset + points.length }
}

/** It has no result yet. */
export function isOpenCall({ outcome }: ToolItem): boolean {
  return outcome === 'running' || outcome === 'asking'
}

/** One whose work is to ask the person. */
export function asking(item: ToolItem): ToolItem {
  return { ...item, outcome: 'asking', startedAt: null }
}

/** What becomes of a call that is ended with its run: one that still asked, or waited for its computer, has never begun. */
export function cutOutcome(item: ToolItem): ToolOutcome {
  return item.outcome === 'asking' || awaitsComputer(item) ? 'skipped' : 'cut'
}

/** The same call with its result; where it has none `instead` is what became of it by what the person said, if they did. */
export function finished(item: ToolItem, event: ToolFinishedEvent, instead: ToolOutcome | null = null): ToolItem {
  const cut = event.has_begun === false ? 'skipped' : cutOutcome(item)
  const outcome = event.cancelled ? cut : event.success ? 'succeeded' : (instead ?? 'failed')
  return {
    ...item,
    outcome,
    durationMs: outcome === 'skipped' ? null : event.duration_ms,
    output: '',
    outputPoints: 0,
    preview: event.preview,
    display: event.display,
    body: event.body ? { ...event.body, seq: event.seq } : null,
  }
}
