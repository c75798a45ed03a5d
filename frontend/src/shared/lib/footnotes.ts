import type MarkdownIt from 'markdown-it'
import type { WrittenOut } from './writtenOut'

/** A number or a word: `[^a-z]` in the middle of a text is more likely a pattern. */
const LABEL = '\\d{1,3}|[A-Za-z]\\w{3,31}'
const MARK = new RegExp(`\\[\\^(${LABEL})\\](?!\\()`, 'y')
const NOTE = new RegExp(`^\\[\\^(${LABEL})\\]:[ \\t]+(?=\\S)`)

/**
 * Footnotes: `[^1]` leads to the line `[^1]: …` and back. Blocks are rendered one by one, so that both have the same label
 * in place of a number that would have to be counted.
 */
export function withFootnotes(markdown: InstanceType<typeof MarkdownIt>): void {
  markdown.inline.ruler.before('link', 'footnote_mark', (state, silent) => {
    if (state.src[state.pos] !== '[' || (state.env as WrittenOut).isWrittenOut) return false
    MARK.lastIndex = state.pos
    const [found, label = ''] = MARK.exec(state.src) ?? []
    if (!found) return false
    if (!silent) state.push('footnote_mark', '', 0).content = label
    state.pos += found.length
    return true
  })
  markdown.core.ruler.before('inline', 'footnotes', ({ tokens, env }) => {
    if ((env as WrittenOut).isWrittenOut) return
    for (const [index, token] of tokens.entries()) {
      const before = tokens[index - 1]
      const [mark, label] = token.type === 'inline' ? (NOTE.exec(token.content) ?? []) : []
      if (!mark || !label || before?.type !== 'paragraph_open') continue
      token.content = token.content.slice(mark.length)
      before.attrSet('class', 'footnote')
      before.attrSet('data-footnote', label)
      before.attrSet('tabindex', '-1')
      before.meta = { label }
    }
  })
  const { rules, renderToken } = markdown.renderer
  rules['footnote_mark'] = (tokens, index) => {
    const label = markdown.utils.escapeHtml(tokens[index]?.content ?? '')
    return `<sup><a href="#note-${label}" data-note="${label}">${label}</a></sup>`
  }
  const opens = rules['paragraph_open']
  rules['paragraph_open'] = (tokens, index, options, env, renderer) => {
    const { label } = (tokens[index]?.meta ?? {}) as { label?: string }
    const opened = opens
      ? opens(tokens, index, options, env, renderer)
      : renderToken.call(renderer, tokens, index, options)
    return label ? `${opened}<a href="#mark-${label}" data-mark="${label}">${label}</a> ` : opened
  }
}

/** Follows a mark to its footnote, or back, within the same text; whether the link is one of these. */
export function followFootnote(link: HTMLElement): boolean {
  const { note, mark } = link.dataset
  const label = note ?? mark
  if (label === undefined) return false
  const text = link.closest('.prose')
  const target = text?.querySelector<HTMLElement>(
    note === undefined ? `[data-note="${CSS.escape(label)}"]` : `[data-footnote="${CSS.escape(label)}"]`,
  )
  target?.scrollIntoView({ block: 'center' })
  target?.focus({ preventScroll: true })
  return true
}
