import type MarkdownIt from 'markdown-it'

/** With it a block is rendered for who decides by what it says: what is set elsewhere as an attribute is a text. */
export interface WrittenOut extends Record<PropertyKey, unknown> {
  isWrittenOut?: boolean
}
type Rules = InstanceType<typeof MarkdownIt>['renderer']['rules']
type Tokens = Parameters<NonNullable<Rules['fence']>>[0]

/** The target of links and pictures, their titles, and the whole line that a fence within a list begins with. */
export function withWrittenOut(markdown: InstanceType<typeof MarkdownIt>): void {
  const { rules } = markdown.renderer
  const { escapeHtml } = markdown.utils
  const { fence, image } = rules
  const isWrittenOut = (env: unknown): boolean => (env as WrittenOut).isWrittenOut === true
  const target = (tokens: Tokens, index: number): string => {
    const at = (name: string): string => String(tokens[index]?.attrGet(name) ?? '')
    // Without words a picture is shown as its address.
    const isNamed = tokens[index]?.type !== 'image' || tokens[index].content !== ''
    const address = isNamed ? markdown.normalizeLinkText(at('href') || at('src')) : ''
    const title = at('title') && `“${at('title')}”`
    const told = [address, title].filter(Boolean).join(' ')
    return told && ` (${escapeHtml(told)})`
  }
  rules['link_close'] = (tokens, index, options, env, renderer) => {
    const shown = renderer.renderToken(tokens, index, options)
    if (!isWrittenOut(env)) return shown
    const level = tokens[index]?.level
    const opened = tokens.findLastIndex((one, at) => at < index && one.type === 'link_open' && one.level === level)
    // What stands there by itself is its address.
    const isNamed = !['linkify', 'autolink'].includes(tokens[opened]?.markup ?? '')
    return shown + (isNamed ? target(tokens, opened) : '')
  }
  rules.image = (tokens, index, options, env, renderer) =>
    (image?.(tokens, index, options, env, renderer) ?? '') + (isWrittenOut(env) ? target(tokens, index) : '')
  rules.fence = (tokens, index, options, env, renderer) => {
    const info = isWrittenOut(env) ? String(tokens[index]?.info ?? '').trim() : ''
    const shown = fence?.(tokens, index, options, env, renderer) ?? ''
    return (info && `<p>${escapeHtml(markdown.utils.unescapeAll(info))}</p>\n`) + shown
  }
}

/** How lists, quotes and tasks begin: what is set in its place is no text. */
const MARKS = /^(?:[\s>*+-]|\d{1,9}[.)](?=\s|$)|\[[xX]\](?=\s))+/gm
/** All but blanks and what Markdown itself is written with. */
const MEANT = /[\p{L}\p{N}\p{M}\p{So}{};,/%@?&^]/gu

/**
 * Whether what is shown of a Markdown text is all that it says, in this order, and no more, among which something else
 * could be hidden. Cells beyond a table's head, for one, are nowhere.
 */
export function showsAll(markdown: InstanceType<typeof MarkdownIt>, source: string, shown: string): boolean {
  const said = (text: string): string[] => markdown.utils.unescapeAll(text).match(MEANT) ?? []
  const seen = shown.match(MEANT) ?? []
  return isWithin(said(source.replace(MARKS, '')), seen) && isWithin(seen, said(source))
}

function isWithin(part: readonly string[], whole: readonly string[]): boolean {
  let after = 0
  return part.every((char) => {
    after = whole.indexOf(char, after) + 1
    return after > 0
  })
}
