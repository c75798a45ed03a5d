import type MarkdownIt from 'markdown-it'
import withCjkEmphasis from 'markdown-it-cjk-friendly'

const WRITTEN_TOGETHER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const PUNCTUATION = /[\p{P}\p{S}]/u

/**
 * Emphasis in scripts that set no blanks between words: `**开源：**代码`. CommonMark takes the second mark for one that
 * opens, as punctuation stands before it and a letter after it. Text in other scripts is read as CommonMark reads it.
 */
export function withEmphasis(markdown: InstanceType<typeof MarkdownIt>): void {
  markdown.use(withCjkEmphasis)
  const Former = markdown.inline.State
  markdown.inline.State = class extends Former {
    /** `_` begins and ends nothing within a word; punctuation beside such a script is the edge of one. */
    override scanDelims(start: number, canSplitWord: boolean): ReturnType<InstanceType<typeof Former>['scanDelims']> {
      const found = super.scanDelims(start, canSplitWord)
      if (canSplitWord) return found
      const before = this.src[start - 1] ?? ' '
      const after = this.src[start + found.length] ?? ' '
      const closes = PUNCTUATION.test(before) && WRITTEN_TOGETHER.test(after)
      const opens = WRITTEN_TOGETHER.test(before) && PUNCTUATION.test(after)
      return { ...found, can_open: found.can_open || opens, can_close: found.can_close || closes }
    }
  }
}
