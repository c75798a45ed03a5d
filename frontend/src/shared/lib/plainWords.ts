import { markdown } from './blocks'
import { withoutRecords } from './records'

/** Most of a text that its first words are looked for in. */
const LOOKED_AT = 2000

/** The first words of Markdown as one line, without the signs that set it and the marks of records. */
export function plainWords(text: string): string {
  const tokens = markdown.parse(text.trimStart().slice(0, LOOKED_AT), {})
  const first = tokens.find(({ type, content }) => (type === 'inline' || type === 'fence') && content.trim() !== '')
  if (!first) return ''
  const pieces = first.children ?? [first]
  const words = pieces.map(({ type, content }) => (/^(soft|hard)break$/.test(type) ? ' ' : content))
  return withoutRecords(words.join('')).replace(/\s+/g, ' ').trim()
}
