import type { PlanItem, Transcript } from './transcript'

/** The words for what became of a plan. */
export function planOutcome({ decision, by }: NonNullable<PlanItem['decided']>): string {
  return decision === 'reject' && by !== 'user'
    ? `plan.by.${by}`
    : decision === 'approve'
      ? 'plan.approved'
      : 'plan.rejected'
}

type Steps = Transcript['steps']

/** How many of the steps need nothing more. */
export function stepsOver(steps: Steps): number {
  return steps.filter(({ status }) => status === 'done' || status === 'skipped').length
}

/** The step that is at work, else the next one; undefined where all are over. */
export function presentStep(steps: Steps): Steps[number] | undefined {
  return steps.find(({ status }) => status === 'in_progress') ?? steps.find(({ status }) => status === 'pending')
}
