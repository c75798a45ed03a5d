import type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  PlanDecidedEvent,
  PlanProposedEvent,
  QuestionAnsweredEvent,
  QuestionAskedEvent,
  RunQueuedEvent,
} from '@/api/types'
import type { ApprovalItem, Item, RunView, Transcript } from './transcript'

/** What a run waits for from now on. */
export function waitItem(key: string, event: QuestionAskedEvent | ApprovalRequestedEvent | PlanProposedEvent): Item {
  if (event.type === 'plan.proposed')
    return { kind: 'plan', key, planId: event.plan_id, callId: event.call_id, plan: event.plan, decided: null }
  if (event.type === 'question.asked') {
    const { question_id: questionId, call_id: callId, questions } = event
    return { kind: 'question', key, questionId, callId, questions, answers: null, by: null }
  }
  return approvalItem(key, event)
}

export function approvalItem(key: string, event: ApprovalRequestedEvent): ApprovalItem {
  const { approval_id: approvalId, calls, expires_at: expiresAt } = event
  return { kind: 'approval', key, approvalId, calls, expiresAt, decided: {} }
}

export function begunWait(state: Transcript, at: string): Transcript {
  const { run } = state
  return { ...state, run: run && { ...run, status: 'waiting', waitsSince: run.waitsSince ?? at } }
}

/** A run that is to begin, or to go on after a wait: that lasts until it is at work. */
export function queuedRun(run: RunView | null, { run_id: id, at, cause }: RunQueuedEvent): RunView {
  const waits = run?.id === id ? { waitedMs: run.waitedMs ?? 0, waitsSince: run.waitsSince ?? null } : {}
  return { id, status: 'queued', model: null, startedAt: at, isSummingUp: cause === 'compact', ...waits }
}

/** How long this run has waited for the person once `at` has come. */
export function waitedUntil(run: RunView | null, runId: string, at: string): number {
  if (run?.id !== runId) return 0
  const since = run.waitsSince ? Date.parse(at) - Date.parse(run.waitsSince) : 0
  return (run.waitedMs ?? 0) + Math.max(since, 0)
}

/** The item with the answer, if it is this one's. */
export function withAnswer(item: Item, event: QuestionAnsweredEvent | ApprovalResolvedEvent | PlanDecidedEvent): Item {
  if (event.type === 'plan.decided') {
    const { decision, by, feedback } = event
    return item.kind === 'plan' && item.planId === event.plan_id
      ? { ...item, decided: { decision, by, feedback } }
      : item
  }
  if (event.type === 'question.answered')
    return item.kind === 'question' && item.questionId === event.question_id
      ? { ...item, answers: event.answers, by: event.by }
      : item
  return item.kind === 'approval' ? withDecision(item, event) : item
}

/** What became of a call that has no result as it was not approved, or not answered in its own words; null for others. */
export function outcomeByPerson(items: readonly Item[], callId: string): 'succeeded' | 'refused' | null {
  for (const item of items) {
    if (item.kind === 'question' && item.callId === callId && item.by === 'message') return 'succeeded'
    if (item.kind === 'plan' && item.callId === callId && item.decided?.decision === 'reject') return 'refused'
    if (item.kind === 'approval' && item.decided[callId]?.decision === 'deny') return 'refused'
  }
  return null
}

export function withDecision(item: ApprovalItem, event: ApprovalResolvedEvent): ApprovalItem {
  if (item.approvalId !== event.approval_id) return item
  const { call_ids: callIds, decision, by, feedback } = event
  const fresh = Object.fromEntries(callIds.map((callId) => [callId, { decision, by, feedback }]))
  return { ...item, decided: { ...item.decided, ...fresh } }
}

/** How many cards wait for the person, wherever they stand. */
export function openWaits(items: readonly Item[]): number {
  let count = 0
  for (const item of items) {
    if (item.kind === 'tool') count += openWaits(item.inner)
    else if (isOpenWait(item)) count += 1
  }
  return count
}

/** Whether this card still waits for the person. */
export function isOpenWait(item: Item): boolean {
  if (item.kind === 'approval') return item.calls.some(({ call_id: callId }) => !item.decided[callId])
  return (item.kind === 'question' && item.by === null) || (item.kind === 'plan' && item.decided === null)
}
