import type { ModelInfo, OptionsBody, PresetInfo } from '@/api/types'
import { covers } from './toolRules'

/** What a conversation chose for itself; what is missing or null is as the server has it. */
export type ChosenOptions = Pick<
  OptionsBody,
  | 'enable_thinking'
  | 'thinking_effort'
  | 'max_turns'
  | 'enable_approval'
  | 'enable_plan_mode'
  | 'enable_tracing'
  | 'enable_teams'
  | 'denied_tools'
  | 'asked_tools'
  | 'allowed_tools'
>
export type ThinkingChoice = 'standard' | 'off' | 'high' | 'max'

export const MOST_TURNS = 500

/** What a preset chooses where the conversation does not. */
export function presetOptions(preset: PresetInfo | null): ChosenOptions {
  return (preset?.options ?? {}) as ChosenOptions
}

/** What holds where a conversation chooses nothing: a preset lifts nothing by which a person's defaults protect them. */
export function defaultsOf(own: ChosenOptions, preset: ChosenOptions): ChosenOptions {
  const layers = [own, preset]
  const chosen = layered(own, preset)
  for (const field of ['denied_tools', 'asked_tools'] as const)
    if (chosen[field]) chosen[field] = [...new Set(layers.flatMap((layer) => layer[field] ?? []))]
  for (const field of ['enable_approval', 'enable_plan_mode'] as const)
    if (layers.some((layer) => layer[field])) chosen[field] = true
  const asking = layers.filter((layer) => layer.enable_approval).map((layer) => layer.allowed_tools ?? [])
  if (asking.length > 0)
    chosen.allowed_tools = [...new Set(asking.flat())].filter((rule) => asking.every((rules) => covers(rules, rule)))
  return chosen
}

/** What holds where layers choose, the lowest first: the defaults, and what the conversation itself chose. */
export function layered(...layers: ChosenOptions[]): ChosenOptions {
  const chosen = layers.flatMap((layer) => Object.entries(layer)).filter(([, value]) => value !== null)
  return Object.fromEntries(chosen.filter(([, value]) => value !== undefined)) as ChosenOptions
}

/** To switch off what a layer below switches on is a choice; else it is none. */
export function switched(isOn: boolean, below: boolean | null | undefined): boolean | null {
  return isOn || (below ? false : null)
}

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
