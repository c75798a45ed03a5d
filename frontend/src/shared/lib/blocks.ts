import MarkdownIt from 'markdown-it'
import { withBareLinks } from './bareLinks'
import { withCallouts } from './callouts'
import { withDetails } from './details'
import { withEmphasis } from './emphasis'
import { withFootnotes } from './footnotes'
import { withLineBreaks } from './lineBreaks'
import { withFormulas } from './mathSyntax'
import { withAlignedCells, withScrolledTables } from './tables'
import { withRecords } from './records'
import { withTaskLists } from './taskLists'
import { withTextDirection } from './textDirection'
import { withWorkspacePaths } from './workspacePath'

export interface Block {
  readonly start: number
  readonly kind: 'prose' | 'code'
  /** Markdown source of prose; the text inside a code fence. */
  readonly source: string
  readonly language: string
  /** The whole line that a fence begins with, whose first word is the language. */
  readonly info: string
}

export const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false })
withBareLinks(markdown)
// Blocks are rendered one by one, so that definitions would define nothing and only be out of sight.
markdown.disable('reference')
withEmphasis(markdown)
withFormulas(markdown)
withWorkspacePaths(markdown)
withLineBreaks(markdown)
withAlignedCells(markdown)
withScrolledTables(markdown)
withTaskLists(markdown)
withTextDirection(markdown)
withCallouts(markdown)
withDetails(markdown)
withFootnotes(markdown)
withRecords(markdown)

const UPRIGHT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const FEW = 24
/** Scripts without an italic of their own are not slanted: a few words have dots instead, as print has. */
markdown.renderer.rules['em_open'] = (tokens, index) => {
  const end = tokens.findIndex(
    ({ type, level }, at) => at > index && type === 'em_close' && level === tokens[index]?.level,
  )
  const words = tokens.slice(index, end).map(({ content }) => content)
  const text = words.join('')
  return UPRIGHT.test(text) ? `<em class="upright${text.length > FEW ? '' : ' dotted'}">` : '<em>'
}

/**
 * Cuts Markdown into top-level blocks. With the blocks of an earlier state of a text that only grew, all but its last
 * two are kept as they are, so that a streamed answer costs only its tail. Two, because a line cut short can be a block
 * of its own ("1") that its end makes a part of the one before ("1. one").
 */
export function splitBlocks(text: string, earlier: readonly Block[] = [], earlierText = ''): Block[] {
  const open = earlier.at(-2)
  if (!open || !text.startsWith(earlierText)) return parse(text, 0)
  return [...earlier.slice(0, -2), ...parse(text.slice(open.start), open.start)]
}

function parse(text: string, offset: number): Block[] {
  const lineStarts = [0]
  for (let index = text.indexOf('\n'); index >= 0; index = text.indexOf('\n', index + 1)) lineStarts.push(index + 1)
  const at = (line: number): number => lineStarts[line] ?? text.length
  const blocks: Block[] = []
  for (const token of markdown.parse(text, {})) {
    if (token.level !== 0 || token.nesting < 0 || !token.map) continue
    const [first, end] = token.map
    if (token.type === 'fence') {
      const info = token.info.trim()
      const language = info.split(/\s+/)[0] ?? ''
      blocks.push({ start: offset + at(first), kind: 'code', source: token.content, language, info })
    } else {
      const source = text.slice(at(first), at(end))
      blocks.push({ start: offset + at(first), kind: 'prose', source, language: '', info: '' })
    }
  }
  return blocks
}
