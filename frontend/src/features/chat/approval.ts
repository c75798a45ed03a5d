import { showInvisible } from '@/shared/lib/invisibleCharacters'
import type { ApprovalDecision, ApprovalItem } from './transcript'

type ApprovalCall = ApprovalItem['calls'][number]

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
      const text = showInvisible(typeof value === 'string' ? value : JSON.stringify(value, null, 1))
      return { name: showInvisible(name), text, length: text.length > LONG ? text.length : null }
    })
}

/** The file that a call would write whole, and with what; null for any other call. */
export function writtenFile({ name, arguments: given }: Pick<ApprovalCall, 'name' | 'arguments'>) {
  const { path, content } = given
  if (name !== 'file_write' || typeof path !== 'string' || typeof content !== 'string') return null
  return { path, content }
}

/**
 * What the provider of the model says of why it holds the call back until a person allows it, as it says it. Calls that
 * came of one step of the model are held back together, and the first one of them tells it.
 */
export function heldBackFor(calls: readonly Partial<ApprovalCall>[], at: number): string[] {
  const told = calls.map(({ safety_checks: checks = [] }) =>
    checks.map((one) => showInvisible(one.message || one.code)),
  )
  const own = told[at] ?? []
  return JSON.stringify(own) === JSON.stringify(told[at - 1]) ? [] : own
}

/** The words for what became of a call. */
export function outcomeOf({ decision, by }: ApprovalDecision): string {
  return decision === 'deny' && by !== 'user' ? `approval.by.${by}` : `approval.${decision}`
}
