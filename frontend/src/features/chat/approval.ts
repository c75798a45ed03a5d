import { printExact } from '@/api/exactNumbers'
import { allSeen } from '@/shared/lib/unseen'
import type { ApprovalDecision } from './transcript'

/** Of an argument that is longer it is told how long it is, as its end may be out of sight. */
const LONG = 400

export interface ShownArgument {
  name: string
  text: string
  /** In characters, null for a short one. */
  length: number | null
}

/** The arguments of a call as a person reads them, whole, before they decide about it. */
export function shownArguments(given: Readonly<Record<string, unknown>>): ShownArgument[] {
  return Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = allSeen(typeof value === 'string' ? value : printExact(value))
      return { name: allSeen(name), text, length: text.length > LONG ? text.length : null }
    })
}

/** The words for what became of a call. */
export function outcomeOf({ decision, by }: ApprovalDecision): string {
  return decision === 'deny' && by !== 'user' ? `approval.by.${by}` : `approval.${decision}`
}
