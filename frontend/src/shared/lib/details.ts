import type MarkdownIt from 'markdown-it'
import type { WrittenOut } from './writtenOut'

const OPEN = /^<details(\s+open)?>\s*(.*)$/i
const SUMMARY = /^\s*<summary>(.*?)<\/summary>\s*(.*)$/i
const CLOSE = /^\s*<\/details>\s*$/i

/** `<details>` on lines of their own fold what stands between them. No other blocks of HTML are read. */
export function withDetails(markdown: InstanceType<typeof MarkdownIt>): void {
  markdown.block.ruler.before(
    'fence',
    'details',
    (state, startLine, endLine, silent) => {
      const line = (at: number): string =>
        state.src.slice((state.bMarks[at] ?? 0) + (state.tShift[at] ?? 0), state.eMarks[at])
      const [found, isOpen, after = ''] = OPEN.exec(line(startLine)) ?? []
      if (found === undefined || (state.env as WrittenOut).isWrittenOut) return false
      if (silent) return true
      let end = startLine + 1
      for (let depth = 1; end < endLine; end += 1) {
        if (OPEN.test(line(end))) depth += 1
        else if (CLOSE.test(line(end))) depth -= 1
        if (depth === 0) break
      }
      let first = startLine + 1
      let [summary, words] = SUMMARY.exec(after) ?? []
      if (summary === undefined && first < end) {
        ;[summary, words] = SUMMARY.exec(line(first)) ?? []
        if (summary !== undefined) first += 1
      }
      const opened = state.push('details_open', 'details', 1)
      opened.block = true
      opened.map = [startLine, Math.min(end + 1, endLine)]
      if (isOpen) opened.attrSet('open', '')
      state.push('summary_open', 'summary', 1)
      const title = state.push('inline', '', 0)
      title.content = words?.trim() || '…'
      title.map = [startLine, first]
      title.children = []
      state.push('summary_close', 'summary', -1)
      const { lineMax, parentType } = state
      state.lineMax = end
      state.md.block.tokenize(state, first, end)
      state.lineMax = lineMax
      state.parentType = parentType
      state.push('details_close', 'details', -1).block = true
      state.line = Math.min(end + 1, endLine)
      return true
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] },
  )
}
