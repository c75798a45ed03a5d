import type MarkdownIt from 'markdown-it'

/** A formula in TeX; `isDisplayed` is one on a line of its own. */
export interface Formula {
  readonly tex: string
  readonly isDisplayed: boolean
  /** Where the text goes on after it. */
  readonly end: number
}

const LONGEST = 2_000
const MOST_LINES = 200
const PAIRS = [
  ['$$', '$$'],
  ['\\[', '\\]'],
  ['\\(', '\\)'],
  ['$', '$'],
] as const
/** What a text between escaped brackets needs to be a formula, and one that begins with a number, as an amount does. */
const IS_MATH = /[\\^_={}+<>]/
const BETWEEN_WORDS = /[\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}、。，]/u
const BEGINS = /`+[^`]*`+|\\\\|\$\$|\\\[|\\\(/g

/** The formula that begins at `at`, as models write them: `$…$`, `$$…$$`, `\(…\)` or `\[…\]`; null where none does. */
export function formulaAt(text: string, at: number): Formula | null {
  const pair = PAIRS.find(([open]) => text.startsWith(open, at))
  if (!pair) return null
  const [open, close] = pair
  const begin = at + open.length
  if (open === '$') return amongWords(text, at)
  const length = text.slice(begin, begin + LONGEST).indexOf(close)
  const tex = length < 0 ? '' : text.slice(begin, begin + length).trim()
  if (tex === '' || /\n\s*\n/.test(tex) || (open === '\\[' && !IS_MATH.test(tex))) return null
  return { tex, isDisplayed: open !== '\\(', end: begin + length + close.length }
}

/** Amounts of money and names of variables are none. */
function amongWords(text: string, at: number): Formula | null {
  if (/[\w$\\]/.test(text[at - 1] ?? ' ') || /[\s$]/.test(text[at + 1] ?? ' ')) return null
  const most = Math.min(text.length, at + LONGEST)
  for (let end = at + 2; end < most; end += 1) {
    if (text[end] === '\n' && text[end - 1] === '\n') return null
    if (text[end] !== '$' || /[\s\\]/.test(text[end - 1] ?? '') || /[\w$]/.test(text[end + 1] ?? '')) continue
    const tex = text.slice(at + 1, end)
    const isAmount = /^\d/.test(tex) && BETWEEN_WORDS.test(tex) && !IS_MATH.test(tex)
    return isAmount ? null : { tex, isDisplayed: false, end: end + 1 }
  }
  return null
}

/** Where a formula begins that a text which is still being written has no end of yet, or -1. */
export function begunFormula(text: string): number {
  let after = 0
  for (const { 0: found, index } of text.matchAll(BEGINS)) {
    if (index < after || found.startsWith('`') || found === '\\\\') continue
    const close = PAIRS.find(([open]) => open === found)?.[1] ?? found
    const end = text.indexOf(close, index + found.length)
    if (end < 0) return text.length - index > LONGEST ? -1 : index
    after = end + close.length
  }
  return -1
}

/** Teaches Markdown the tokens `formula`, whose markup is `display` for one on a line of its own. */
export function withFormulas(markdown: InstanceType<typeof MarkdownIt>): void {
  markdown.inline.ruler.before('escape', 'formula', (state, silent) => {
    const formula = formulaAt(state.src, state.pos)
    if (!formula || formula.end > state.posMax) return false
    if (!silent) {
      const token = state.push('formula', 'math', 0)
      token.content = formula.tex
      token.markup = formula.isDisplayed ? 'display' : ''
    }
    state.pos = formula.end
    return true
  })
  const alt = ['paragraph', 'reference', 'blockquote', 'list']
  markdown.block.ruler.before(
    'fence',
    'formula',
    (state, first, last, silent) => {
      const lineAt = (line: number): string =>
        state.src.slice((state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0), state.eMarks[line])
      const indent = (line: number): number => (state.sCount[line] ?? 0) - state.blkIndent
      const pair = PAIRS.slice(0, 2).find(([open]) => lineAt(first).startsWith(open))
      if (!pair || indent(first) >= 4) return false
      const lines: string[] = []
      for (let line = first; line < Math.min(last, first + MOST_LINES); line += 1) {
        const text = line === first ? lineAt(line).slice(2) : lineAt(line)
        if (text !== '' && indent(line) < 0) return false
        const end = text.indexOf(pair[1])
        if (end < 0) {
          lines.push(text)
          continue
        }
        const tex = [...lines, text.slice(0, end)].join('\n').trim()
        const isAlone = text.slice(end + 2).trim() === ''
        if (!isAlone || tex === '' || (pair[0] === '\\[' && !IS_MATH.test(tex))) return false
        if (silent) return true
        state.line = line + 1
        const token = state.push('formula', 'math', 0)
        token.block = true
        token.content = tex
        token.markup = 'display'
        token.map = [first, line + 1]
        return true
      }
      return false
    },
    { alt },
  )
}
