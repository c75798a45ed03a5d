// @vitest-environment jsdom
import { render, screen } from '@testing-library/vue'
import { describe, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import type { WireEvent } from '@/api/types'
import { planOutcome, presentStep, stepsOver } from './plan'
import PlanSteps from './PlanSteps.vue'
import { reduce } from './reducer'
import { emptyTranscript } from './transcript'

const at = '2026-01-01T00:00:00.000Z'
const envelope = { at, session_id: 's', run_id: 'r' }
const proposed = { ...envelope, seq: 1, type: 'plan.proposed', plan_id: 'p', call_id: 'c', plan: '# A', expires_at: at }
const decided = { ...envelope, type: 'plan.decided', plan_id: 'p', decision: 'reject', feedback: 'no', by: 'user' }
const steps = [
  { title: 'Look', status: 'done', result: '3 files' },
  { title: 'Think', status: 'skipped', result: '' },
  { title: 'Write', status: 'pending', result: '' },
] as const

function after(...events: object[]) {
  return events.reduce<typeof emptyTranscript>((state, event) => reduce(state, event as WireEvent), emptyTranscript)
}

describe('a plan', () => {
  it('waits until it is decided, and then says what became of it', () => {
    expect(after(proposed).items).toMatchObject([{ kind: 'plan', planId: 'p', plan: '# A', decided: null }])
    const { items } = after(proposed, { ...decided, seq: 2 })
    expect(items).toMatchObject([{ decided: { decision: 'reject', feedback: 'no', by: 'user' } }])
  })
  it('makes its call wait for the person, and did not fail where it was rejected', () => {
    const called = { ...envelope, seq: 1, type: 'tool.called', call_id: 'c', name: 'exit_plan_mode', arguments: {} }
    const finished = {
      ...envelope,
      seq: 4,
      type: 'tool.finished',
      call_id: 'c',
      success: false,
      preview: '',
      body: null,
    }
    expect(after(called, { ...proposed, seq: 2 }).items[0]).toMatchObject({ outcome: 'asking' })
    const { items } = after(called, { ...proposed, seq: 2 }, { ...decided, seq: 3 }, finished)
    expect(items[0]).toMatchObject({ kind: 'tool', outcome: 'refused' })
  })
  it('is not decided by what is said of another one', () => {
    expect(after(proposed, { ...decided, seq: 2, plan_id: 'other' }).items).toMatchObject([{ decided: null }])
  })
  it('has words for each way it ends', () => {
    const ways = (['user', 'timeout', 'message', 'stop'] as const).map((by) =>
      planOutcome({ decision: 'reject', by, feedback: null }),
    )
    expect(ways).toEqual(['plan.rejected', 'plan.by.timeout', 'plan.by.message', 'plan.by.stop'])
    expect(planOutcome({ decision: 'approve', by: 'user', feedback: null })).toBe('plan.approved')
  })
})

describe('the steps of a plan', () => {
  it('are those that were told last', () => {
    const first = { ...envelope, seq: 1, type: 'plan.updated', steps: [] }
    expect(after(first, { ...first, seq: 2, steps }).steps).toEqual(steps)
    expect(after({ ...first, steps }, { ...first, seq: 2 }).steps).toEqual([])
  })
  it('say how many are over and which comes next', () => {
    expect(stepsOver([...steps])).toBe(2)
    expect(presentStep([...steps])?.title).toBe('Write')
    expect(presentStep([])).toBeUndefined()
  })
  it('are read with their status and result', () => {
    render(PlanSteps, { props: { steps: [...steps] }, global: { plugins: [i18n] } })
    expect(screen.getByRole('status').textContent).toBe('2 of 3 steps')
    expect(screen.getByText('3 files')).toBeTruthy()
    expect(screen.getByText('Skipped:', { exact: false })).toBeTruthy()
  })
})
