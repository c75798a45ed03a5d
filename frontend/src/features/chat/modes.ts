/** Ways in which the agent works, by the presets and options that they stand for. */
const MODES = {
  plan: { preset: null, plans: true },
  research: { preset: 'research', plans: false },
  write: { preset: 'writing', plans: false },
  code: { preset: 'coding', plans: false },
} as const

export type Mode = keyof typeof MODES
export const MODE = '/mode'
const ALL = Object.keys(MODES) as Mode[]

/** Those whose preset the deployment has. */
export function offeredModes(presets: readonly { readonly id: string }[]): Mode[] {
  return ALL.filter((mode) => {
    const { preset } = MODES[mode]
    return preset === null || presets.some(({ id }) => id === preset)
  })
}

/** The one that a command of the composer names. */
export function modeOf(command: string): Mode | null {
  const name = command.replace(/^mode:/, '')
  return Object.hasOwn(MODES, name) ? (name as Mode) : null
}

/** What a message that is a command for modes names; null of one that is none. */
export function namedMode(text: string): string | null {
  const command = /^\/mode(?:\s+([^]*))?$/i.exec(text.trim())
  return command ? (command[1] ?? '').toLowerCase() : null
}

/** What a conversation is changed to; it plans first in one of them alone. */
export function choiceOf(mode: Mode): { preset: string | null; options: { enable_plan_mode: true | null } } {
  const { preset, plans } = MODES[mode]
  return { preset, options: { enable_plan_mode: plans ? true : null } }
}

/** Whether it is more than a preset, which is named beside the message by itself. */
export const isNamedApart = (mode: Mode | null): mode is Mode => mode !== null && MODES[mode].preset === null

/** The one that is on: none where the agent works as usual, with the preset that every conversation begins with. */
export function modeOn(plans: boolean, preset: string | null, usual: string | null): Mode | null {
  if (plans) return 'plan'
  if (preset === null || preset === usual) return null
  return ALL.find((mode) => MODES[mode].preset === preset) ?? null
}
