/** Whether an option is among the chosen ones of a question that may have several: each stands in a line of its own. */
export function isChosen(chosen: string | undefined, option: string): boolean {
  return (chosen ?? '').split('\n').includes(option)
}

/** What is chosen after that option was taken, or taken back. */
export function withChoice(chosen: string | undefined, option: string, options: readonly string[]): string {
  return options.filter((one) => isChosen(chosen, one) !== (one === option)).join('\n')
}
