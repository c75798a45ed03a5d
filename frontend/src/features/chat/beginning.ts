/** A text with more than this is long; of it so much is the beginning. */
const LONG = { lines: 40, units: 4000 }
const BEGINNING = { lines: 20, units: 2000 }

/** The index at which line number `lines` ends, or the text's length where there are fewer. */
function endOfLine(text: string, lines: number): number {
  let at = -1
  for (let line = 0; line < lines; line += 1) {
    at = text.indexOf('\n', at + 1)
    if (at < 0) return text.length
  }
  return at
}

/** The beginning of a long text; null of one that is short enough to be seen whole. No character is cut in two. */
export function beginning(text: string): string | null {
  if (text.length <= LONG.units && endOfLine(text, LONG.lines) === text.length) return null
  const end = Math.min(endOfLine(text, BEGINNING.lines), BEGINNING.units)
  const isWithin = /[\uD800-\uDBFF]/.test(text.charAt(end - 1))
  return text.slice(0, isWithin ? end - 1 : end)
}
