import type MarkdownIt from 'markdown-it'
import type { WrittenOut } from './writtenOut'

export const CALLOUTS = ['note', 'tip', 'important', 'warning', 'caution'] as const
export type Callout = (typeof CALLOUTS)[number]
const MARK = new RegExp(`^\\[!(${CALLOUTS.join('|')})\\][ \\t]*(?:\\n|$)`, 'i')

/** A quote that begins with `[!NOTE]` is a callout; `data-callout` is the place of its name in the page's language. */
export function withCallouts(markdown: InstanceType<typeof MarkdownIt>): void {
  markdown.core.ruler.before('inline', 'callouts', ({ tokens, env }) => {
    if ((env as WrittenOut).isWrittenOut) return
    for (const [index, token] of tokens.entries()) {
      if (token.type !== 'inline' || tokens[index - 2]?.type !== 'blockquote_open') continue
      const [mark, kind] = MARK.exec(token.content) ?? []
      if (!mark || !kind) continue
      token.content = token.content.slice(mark.length)
      const quote = tokens[index - 2]
      quote?.attrJoin('class', 'callout')
      if (quote) quote.meta = { callout: kind.toLowerCase() }
    }
  })
  markdown.renderer.rules['blockquote_open'] = (tokens, index, options, _env, renderer) => {
    const { callout } = (tokens[index]?.meta ?? {}) as { callout?: string }
    const opened = renderer.renderToken(tokens, index, options)
    return callout ? `${opened}<p dir="auto" data-callout="${callout}"></p>` : opened
  }
}
