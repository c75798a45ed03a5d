/** Ways in which the agent works, by the presets and options that they stand for. */
const MODES = {
  plan: { preset: null, plans: true },
  research: { preset: 'research', plans: false },
  write: { preset: 'writing', plans: false },
  code: { preset: 'coding', plans: false },
} as const

export type Mode = keyof typeof MODES
export const MODE = '/mode'

/** Those whose preset the deployment has. */
export function offeredModes(presets: readonly { readonly id: string }[]): Mode[] {
  const modes = Object.keys(MODES) as Mode[]
  return modes.filter((mode) => {
    const { preset } = MODES[mode]
    return preset === null || presets.some(({ id }) => id === preset)
  })
}

/** The one that a command of the composer names. */
export function modeOf(command: string): Mode | null {
  const name = command.replace(/^mode:/, '')
  return Object.hasOwn(MODES, name) ? (name as Mode) : null
}

/** What a conversation is changed to; it plans first in one of them alone. */
export function choiceOf(mode: Mode): { preset: string | null; options: { enable_plan_mode: true | null } } {
  const { preset, plans } = MODES[mode]
  return { preset, options: { enable_plan_mode: plans ? true : null } }
}
