/** What stands for a paper in a text, as it is checked and exported. */
const CITED =
  /(?<![\p{L}\p{N}_@\\./])@(?:\{([^{}\s]{1,200})\}|([\p{L}\p{N}_](?:[:.#$%&+?<>~/-]?[\p{L}\p{N}_]){0,200}))/gu

interface Citation {
  readonly key: string
  readonly from: number
  readonly to: number
}
function* citationsOf(line: string): Generator<Citation> {
  for (const found of line.matchAll(CITED))
    yield { key: found[1] ?? found[2] ?? '', from: found.index, to: found.index + found[0].length }
}

/** The key of the paper that is cited at this place of the line, and where it begins. */
export function citedAt(line: string, at: number): { key: string; from: number } | null {
  for (const { key, from, to } of citationsOf(line)) {
    if (at < from) return null
    if (at <= to) return { key, from }
  }
  return null
}

/** The whole line in parts: those that stand for a paper have its key. */
export function citedParts(line: string): { text: string; key: string | null }[] {
  const parts: { text: string; key: string | null }[] = []
  let at = 0
  for (const { key, from, to } of citationsOf(line)) {
    if (from > at) parts.push({ text: line.slice(at, from), key: null })
    parts.push({ text: line.slice(from, to), key })
    at = to
  }
  return at < line.length || parts.length === 0 ? [...parts, { text: line.slice(at), key: null }] : parts
}
