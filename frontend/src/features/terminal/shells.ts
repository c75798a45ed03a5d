import { awaitsComputer, type ToolCard } from '@/features/tools'

export const MAIN_SHELL = 'main'

/** Whether a call ran in a shell. Those in the background have a panel of their own. */
export function ranIn(card: ToolCard): boolean {
  const { name, display } = card
  const isOfShell = display?.type === 'shell' ? !display.background : name.startsWith('shell')
  return isOfShell && hasRun(card)
}

/** Of what was only asked for, refused, or no tool of the agent's, nothing ran. */
function hasRun(card: ToolCard): boolean {
  const { outcome, display } = card
  if (outcome === 'failed') return display !== null
  return (outcome === 'running' && !awaitsComputer(card)) || outcome === 'succeeded' || outcome === 'cut'
}

export function shellOf({ display, arguments: given }: ToolCard): string {
  const named = (display?.type === 'shell' ? display.shell : given['shell']) ?? MAIN_SHELL
  return typeof named === 'string' && named !== '' ? named : MAIN_SHELL
}
