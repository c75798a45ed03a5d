import { ref } from 'vue'
import { useSessions } from '@/features/sessions'
import { commandRule, defaultsOf, layered, presetOptions, usePresets, useUserSettings } from '@/features/settings'
import type { ApprovalItem } from './transcript'

type Call = ApprovalItem['calls'][number]

/** The rule that lets exactly the command of a call run without being asked for; null for a call that has none. */
export function allowedCommand({ name, arguments: given, safety_checks: checks = [] }: Call): string | null {
  return checks.length > 0 ? null : commandRule(name, given)
}

/** The rules of a conversation that allow, with those that it has from below. */
function allowedIn(sessionId: string): readonly string[] {
  const session = useSessions().byId.get(sessionId)
  const below = defaultsOf(useUserSettings().options, presetOptions(usePresets().find(session?.preset ?? null)))
  return layered(below, session?.options ?? {}).allowed_tools ?? []
}

/** Whether exactly this command runs in the conversation without being asked for, until the rule is taken back. */
export function isAllowed(sessionId: string, call: Call): boolean {
  const rule = allowedCommand(call)
  return rule !== null && allowedIn(sessionId).includes(rule)
}

/** The rules for tools of the conversation are looked at. */
export const areRulesOpen = ref(false)

/** Adds a rule to those of a conversation that allow. A list of its own stands in place of those below it, so it takes
 *  theirs along. */
export async function allowInSession(sessionId: string, rule: string): Promise<void> {
  const present = allowedIn(sessionId)
  if (!present.includes(rule)) await useSessions().change(sessionId, { options: { allowed_tools: [...present, rule] } })
}
