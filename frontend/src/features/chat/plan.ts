import type { PlanItem, Transcript } from './transcript'

/** The words for what became of a plan. */
export function planOutcome({ decision, by }: NonNullable<PlanItem['decided']>): string {
  return decision === 'reject' && by !== 'user'
    ? `plan.by.${by}`
    : decision === 'approve'
      ? 'plan.approved'
      : 'plan.rejected'
}

/** As the server takes it. */
export const LONGEST_FEEDBACK = 10_000

/** What the agent reads with a decision: the person's words, and the plan as they edited it (null: they did not). */
export function withEditedPlan(words: string, plan: string | null, introduction: string): string {
  const edited = plan === null ? '' : `${introduction}\n\n${plan.trim()}`
  return [words.trim(), edited].filter(Boolean).join('\n\n')
}

type Step = Transcript['steps'][number]

/** A step of a plan or a todo, as it is shown. */
export interface WorkLine {
  readonly text: string
  readonly status: Step['status']
  readonly result: string
  /** How the agent says it while it is at it; empty where it does not. */
  readonly whileAtWork: string
}

export function stepLine({ title, status, result }: Step): WorkLine {
  return { text: title, status, result, whileAtWork: '' }
}

export function todoLine({ content, status, active_form: active }: Transcript['todos'][number]): WorkLine {
  return {
    text: content,
    status: status === 'completed' ? 'done' : status,
    result: '',
    whileAtWork: status === 'in_progress' ? active : '',
  }
}

type Task = Transcript['tasks']['tasks'][number]

/** What has to be completed before a task may begin. */
export function openBlockers(task: Task, all: readonly Task[]): string[] {
  return all.filter(({ id, status }) => task.blocked_by.includes(id) && status !== 'completed').map(({ id }) => id)
}

/** How many need nothing more. */
export function linesOver(lines: readonly WorkLine[]): number {
  return lines.filter(({ status }) => status === 'done' || status === 'skipped').length
}

/** The one at work, else the next one; undefined where all are over. */
export function presentLine(lines: readonly WorkLine[]): WorkLine | undefined {
  return lines.find(({ status }) => status === 'in_progress') ?? lines.find(({ status }) => status === 'pending')
}
