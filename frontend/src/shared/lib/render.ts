import DOMPurify from 'dompurify'
import { markdown } from './blocks'

const KEPT = 400
const rendered = new Map<string, string>()

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return
  node.setAttribute('target', '_blank')
  node.setAttribute('rel', 'noopener noreferrer nofollow')
})

/** Safe HTML of one Markdown block; finished blocks are remembered. Pictures from elsewhere are left out: they tell who reads. */
export function renderBlock(source: string): string {
  const known = rendered.get(source)
  if (known !== undefined) return known
  const html = DOMPurify.sanitize(markdown.render(source), {
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'img', 'svg', 'math', 'iframe'],
    FORBID_ATTR: ['style'],
    ADD_ATTR: ['target'],
  })
  if (rendered.size >= KEPT) rendered.delete(rendered.keys().next().value ?? '')
  rendered.set(source, html)
  return html
}
