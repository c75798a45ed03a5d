import { DRAFT, recallJson, remember } from '@/shared/lib/storage'
import type { ChosenOptions } from '@/features/settings'

/** What was chosen for the conversation that is about to begin. */
export interface FirstChoices {
  readonly preset: string | null
  readonly model: string | null
  /** The computer that it works on; null: the usual one. */
  readonly target: string | null
  readonly options: ChosenOptions
}
export const NO_CHOICES: FirstChoices = { preset: null, model: null, target: null, options: {} }

const isText = (value: unknown): value is string => typeof value === 'string'
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const areTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const KINDS: Record<keyof ChosenOptions, (value: unknown) => boolean> = {
  enable_thinking: isFlag,
  thinking_effort: (value) => value === 'high' || value === 'max',
  max_turns: Number.isInteger,
  enable_approval: isFlag,
  enable_plan_mode: isFlag,
  enable_tracing: isFlag,
  enable_teams: isFlag,
  denied_tools: areTexts,
  asked_tools: areTexts,
  allowed_tools: areTexts,
}
const isOption = ([name, value]: [string, unknown]): boolean =>
  Object.hasOwn(KINDS, name) && (value === null || KINDS[name as keyof ChosenOptions](value))

function areChoices(value: unknown): value is FirstChoices {
  if (typeof value !== 'object' || value === null) return false
  const { preset, model, target, options } = value as Record<string, unknown>
  const areNames = [preset, model, target].every((one) => one === null || isText(one))
  return areNames && typeof options === 'object' && options !== null && Object.entries(options).every(isOption)
}

/** They stay with the draft of `writer`, also over a reload, and go with it. */
const keyOf = (writer: string | null): string => `${DRAFT}${writer ?? ''}:new:choices`

export function keepChoices(writer: string | null, choices: FirstChoices): void {
  const isAny = Object.keys(choices.options).length > 0 || choices.preset || choices.model || choices.target
  remember(keyOf(writer), isAny ? JSON.stringify(choices) : null)
}

export function recallChoices(writer: string | null): FirstChoices {
  return recallJson(keyOf(writer), areChoices, NO_CHOICES)
}
