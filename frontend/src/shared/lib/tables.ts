import type MarkdownIt from 'markdown-it'

/** A table scrolls in a box of its own, which the keyboard reaches; whoever shows it gives that its name. */
export function withScrolledTables(markdown: InstanceType<typeof MarkdownIt>): void {
  const { rules } = markdown.renderer
  rules['table_open'] = (tokens, index, options, _env, renderer) => {
    const table = tokens[index]
    // The box stands at the side that the words ask for, and the table in it follows.
    const dir = table?.attrGet('dir') ? ' dir="auto"' : ''
    if (table) table.attrs = null
    return `<div${dir} class="table" role="region" tabindex="0">${renderer.renderToken(tokens, index, options)}`
  }
  rules['table_close'] = (tokens, index, options, _env, renderer) =>
    `${renderer.renderToken(tokens, index, options)}</div>\n`
}

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
