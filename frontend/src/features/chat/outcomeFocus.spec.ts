// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import ApprovalCard from './ApprovalCard.vue'
import PlanCard from './PlanCard.vue'
import QuestionCard from './QuestionCard.vue'
import type { ApprovalItem, PlanItem, QuestionItem } from './transcript'

const global = { plugins: [i18n] }
const plan: PlanItem = { kind: 'plan', key: '1', planId: 'p', callId: 'c', plan: '# A', decided: null }
const approved = { decision: 'approve', by: 'user', feedback: null } as const
const question = {
  kind: 'question',
  key: '1',
  questionId: 'q',
  callId: 'c',
  questions: [{ id: 'q1', text: 'Which colour?', options: ['red', 'blue'], allow_text: false }],
  answers: null,
  by: null,
} as QuestionItem
const approval = {
  kind: 'approval',
  key: '1',
  approvalId: 'a',
  calls: ['c1', 'c2'].map((call_id) => ({ call_id, name: 'shell_run', arguments: {}, safety_checks: [] })),
  expiresAt: '2026-01-01T00:05:00Z',
  decided: {},
} as ApprovalItem

afterEach(cleanup)
const button = (name: string, at = 0): HTMLElement => screen.getAllByRole('button', { name })[at] as HTMLElement
const focused = (): string => document.activeElement?.textContent?.trim() ?? ''

describe('the focus of a decision', () => {
  it('goes from the button of a plan to what became of it', async () => {
    const { rerender } = render(PlanCard, { props: { item: plan, sessionId: 's' }, global })
    button('Approve the plan').focus()
    await rerender({ item: { ...plan, decided: approved } })
    expect(focused()).toBe('Approved')
  })
  it('goes from the button of a question to the answer, or to why there is none', async () => {
    const { rerender } = render(QuestionCard, { props: { item: question, sessionId: 's' }, global })
    screen.getByRole('radio', { name: 'red' }).focus()
    await rerender({ item: { ...question, by: 'user', answers: { q1: 'red' } } })
    expect(focused()).toBe('red')
    cleanup()
    const other = render(QuestionCard, { props: { item: question, sessionId: 's' }, global })
    screen.getByRole('radio', { name: 'red' }).focus()
    await other.rerender({ item: { ...question, by: 'timeout' } })
    expect(focused()).toBe('Not answered in time.')
  })
  it('goes to the outcome of the call that was decided, and to that of the last one', async () => {
    const { rerender } = render(ApprovalCard, { props: { item: approval, sessionId: 's' }, global })
    button('Approve: Use shell_run', 1).focus()
    await rerender({ item: { ...approval, decided: { c2: approved } } })
    expect(focused()).toBe('Approved')
    button('Refuse').focus()
    const denied = { ...approved, decision: 'deny' } as const
    await rerender({ item: { ...approval, decided: { c2: approved, c1: denied } } })
    expect(focused()).toBe('Refused')
  })
  it('stays where it is when it is elsewhere, or on what does not go', async () => {
    const field = document.body.appendChild(document.createElement('input'))
    const { rerender, container } = render(PlanCard, { props: { item: plan, sessionId: 's' }, global })
    field.focus()
    await rerender({ item: { ...plan, decided: approved } })
    expect(document.activeElement).toBe(field)
    field.remove()
    await rerender({ item: plan })
    const text = container.querySelector<HTMLElement>('[tabindex="0"]')
    text?.focus()
    await rerender({ item: { ...plan, decided: approved } })
    expect(document.activeElement).toBe(text)
  })
})
