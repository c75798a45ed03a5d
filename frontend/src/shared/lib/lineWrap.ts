/** A gap that no end of a sentence explains; a row of a table; a frame that is drawn. */
const COLUMNS = /[^\s.!?:](?: {2,}|\t)\S|\|.*\||[\u2500-\u257f]{2}/

/**
 * How lines that are too wide are shown: words and paths wrap, but where lines stand in columns wrapping would tear
 * those apart, so that such a text scrolls sideways. One line alone is no table.
 */
export function lineWrap(text: string): string {
  let rows = 0
  for (const line of text.split('\n')) {
    if (COLUMNS.test(line) && ++rows === 2) return 'whitespace-pre'
  }
  return 'whitespace-pre-wrap [overflow-wrap:anywhere]'
}
