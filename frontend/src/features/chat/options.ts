import type { ModelInfo, OptionsBody } from '@/api/types'

/** What a conversation chose for itself; what is missing or null is as the server has it. */
export type ChosenOptions = Pick<
  OptionsBody,
  'enable_thinking' | 'thinking_effort' | 'max_turns' | 'enable_approval' | 'enable_plan_mode'
>
export type ThinkingChoice = 'standard' | 'off' | 'high' | 'max'

export const MOST_TURNS = 500

export function thinkingChoice(options: ChosenOptions): ThinkingChoice {
  if (options.enable_thinking === null || options.enable_thinking === undefined) return 'standard'
  return options.enable_thinking ? (options.thinking_effort ?? 'high') : 'off'
}

export function thinkingChange(choice: ThinkingChoice): ChosenOptions {
  if (choice === 'standard') return { enable_thinking: null, thinking_effort: null }
  if (choice === 'off') return { enable_thinking: false, thinking_effort: null }
  return { enable_thinking: true, thinking_effort: choice }
}

/** What may be chosen for this model. */
export function thinkingChoices(model: ModelInfo | null): ThinkingChoice[] {
  if (model?.thinking === 'never') return ['standard']
  return model?.thinking === 'always' ? ['standard', 'high', 'max'] : ['standard', 'off', 'high', 'max']
}

/** What has to be taken back so that this model can work with these options. */
export function takenBackFor(model: ModelInfo | null, options: ChosenOptions): ChosenOptions {
  return thinkingChoices(model).includes(thinkingChoice(options)) ? {} : thinkingChange('standard')
}

/** The number of steps that was written; null for none, undefined for what is no such number. */
export function turnsWritten(text: string): number | null | undefined {
  if (text.trim() === '') return null
  const turns = Number(text)
  return Number.isInteger(turns) && turns >= 1 && turns <= MOST_TURNS ? turns : undefined
}
