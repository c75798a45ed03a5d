const SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g

/** What a terminal would leave on the page: no escape sequences, and only the last state of a line written over. */
export function plainOutput(text: string): string {
  const clean = text.replace(SEQUENCE, '').replace(/\r\n/g, '\n')
  if (!clean.includes('\r')) return clean
  return clean
    .split('\n')
    .map((line) => line.replace(/\r+$/, '').split('\r').at(-1) ?? '')
    .join('\n')
}
