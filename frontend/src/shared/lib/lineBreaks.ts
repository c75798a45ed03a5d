import type MarkdownIt from 'markdown-it'

const BREAK = /<br\s*\/?>/iy

/** `<br>` is a line break, as cells of tables have no other way to one. No other markup of HTML is read. */
export function withLineBreaks(markdown: InstanceType<typeof MarkdownIt>): void {
  markdown.inline.ruler.before('autolink', 'line_break', (state, silent) => {
    if (state.src[state.pos] !== '<') return false
    BREAK.lastIndex = state.pos
    const [found] = BREAK.exec(state.src) ?? []
    if (!found) return false
    if (!silent) state.push('hardbreak', 'br', 0)
    state.pos += found.length
    return true
  })
}
