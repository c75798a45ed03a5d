import type MarkdownIt from 'markdown-it'

const BLOCKS = /^(paragraph|heading|bullet_list|ordered_list|blockquote|table)_open$/

/**
 * Each block is written from the side its words ask for. Only the outermost is given the attribute, as a browser does
 * not look into parts that have one of their own; what is within, such as the items of a list, goes by that.
 */
export function withTextDirection(markdown: InstanceType<typeof MarkdownIt>): void {
  markdown.core.ruler.push('text_direction', ({ tokens }) => {
    for (const token of tokens) if (token.level === 0 && BLOCKS.test(token.type)) token.attrSet('dir', 'auto')
  })
}
