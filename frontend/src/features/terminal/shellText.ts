/** A command of the agent and what came of it. */
export interface ShellEntry {
  readonly id: string
  readonly command: string
  readonly output: string
  readonly isRunning: boolean
}

/** What a terminal shows of the commands of a shell, in their order. `convertEol` makes new lines of line feeds. */
export function shellText(entries: readonly ShellEntry[]): string {
  return entries.map(entryText).join('')
}

function entryText({ command, output, isRunning }: ShellEntry): string {
  const prompt = `\u001b[0;1;32m$\u001b[0m \u001b[1m${command}\u001b[0m\n`
  const isWhole = output === '' || output.endsWith('\n') || output.endsWith('\r')
  // A running command writes on where it stopped.
  return prompt + output + (isRunning ? '' : `\u001b[0m${isWhole ? '' : '\n'}\n`)
}

/** What has to be written where a text stands, so that another one stands there: null where all is written anew. */
export function added(before: string, after: string): string | null {
  return after.startsWith(before) ? after.slice(before.length) : null
}
