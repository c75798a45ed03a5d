import type MarkdownIt from 'markdown-it'

/** How a column is aligned is said by an attribute of its cells: styles of a text are taken out of it. */
export function withAlignedCells(markdown: InstanceType<typeof MarkdownIt>): void {
  markdown.core.ruler.push('aligned_cells', ({ tokens }) => {
    for (const token of tokens) {
      if (token.type !== 'th_open' && token.type !== 'td_open') continue
      const align = /^text-align:(center|right)$/.exec(String(token.attrGet('style') ?? ''))?.[1]
      token.attrs = align ? [['align', align]] : null
    }
  })
}
