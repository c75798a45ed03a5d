import type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  PlanDecidedEvent,
  PlanProposedEvent,
  QuestionAnsweredEvent,
  QuestionAskedEvent,
} from '@/api/types'
import type { ApprovalItem, Item, Transcript } from './transcript'

/** What a run waits for from now on. */
export function waitItem(key: string, event: QuestionAskedEvent | ApprovalRequestedEvent | PlanProposedEvent): Item {
  if (event.type === 'plan.proposed')
    return { kind: 'plan', key, planId: event.plan_id, plan: event.plan, decided: null }
  if (event.type === 'question.asked') {
    const { question_id: questionId, questions } = event
    return { kind: 'question', key, questionId, questions, answers: null, by: null }
  }
  return approvalItem(key, event)
}

export function approvalItem(key: string, event: ApprovalRequestedEvent): ApprovalItem {
  const { approval_id: approvalId, calls, expires_at: expiresAt } = event
  return { kind: 'approval', key, approvalId, calls, expiresAt, decided: {} }
}

export function begunWait(state: Transcript): Transcript {
  return { ...state, run: state.run && { ...state.run, status: 'waiting' } }
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

export function withDecision(item: ApprovalItem, event: ApprovalResolvedEvent): ApprovalItem {
  if (item.approvalId !== event.approval_id) return item
  const { call_ids: callIds, decision, by, feedback } = event
  const fresh = Object.fromEntries(callIds.map((callId) => [callId, { decision, by, feedback }]))
  return { ...item, decided: { ...item.decided, ...fresh } }
}
