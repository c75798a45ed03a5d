import { useSessions } from '@/features/sessions'
import { commandRule, defaultsOf, layered, presetOptions, usePresets, useUserSettings } from '@/features/settings'
import type { ApprovalItem } from './transcript'

type Call = ApprovalItem['calls'][number]

/** The rule that lets exactly the command of a call run without being asked for; null for a call that has none. */
export function allowedCommand({ name, arguments: given, safety_checks: checks = [] }: Call): string | null {
  return checks.length > 0 ? null : commandRule(name, given)
}

/** Adds a rule to those of a conversation that allow. A list of its own stands in place of those below it, so it takes
 *  theirs along. */
export async function allowInSession(sessionId: string, rule: string): Promise<void> {
  const sessions = useSessions()
  const session = sessions.byId.get(sessionId)
  const below = defaultsOf(useUserSettings().options, presetOptions(usePresets().find(session?.preset ?? null)))
  const present = layered(below, session?.options ?? {}).allowed_tools ?? []
  if (!present.includes(rule)) await sessions.change(sessionId, { options: { allowed_tools: [...present, rule] } })
}
