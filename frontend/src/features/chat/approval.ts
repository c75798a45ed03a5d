import type { ApprovalDecision } from './transcript'

/** What of an argument is shown: the rest of a longer one is on the tool's card. */
const LONGEST = 4000

/** The arguments of a call as a person reads them, before they decide about it. */
export function shownArguments(given: Readonly<Record<string, unknown>>): { name: string; text: string }[] {
  return Object.entries(given)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value, null, 1)
      const rest = text.length - LONGEST
      return { name, text: rest > 0 ? `${text.slice(0, LONGEST)}\n… +${rest}` : text }
    })
}

/** The words for what became of a call. */
export function outcomeOf({ decision, by }: ApprovalDecision): string {
  return decision === 'deny' && by !== 'user' ? `approval.by.${by}` : `approval.${decision}`
}
