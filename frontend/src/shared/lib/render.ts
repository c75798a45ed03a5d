import DOMPurify from 'dompurify'
import { markdown } from './blocks'

/** A link without a scheme names a file of the workspace, unless it is a signed link to one. */
export function workspacePath(href: string): string | null {
  if (href === '' || /^(#|\/api\/files\/)/.test(href) || href.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(href))
    return null
  try {
    return decodeURIComponent(href.replace(/[?#].*$/, '').replace(/^\.?\//, '')).replace(/^workspace\//, '')
  } catch {
    return null
  }
}

const KEPT = 400
const rendered = new Map<string, string>()

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName.toLowerCase() !== 'a') return
  const path = workspacePath(node.getAttribute('href') ?? '')
  if (path !== null) {
    node.setAttribute('href', '#')
    node.setAttribute('data-path', path)
    return
  }
  node.setAttribute('target', '_blank')
  node.setAttribute('rel', 'noopener noreferrer nofollow')
})

/** Not fetched, as that would tell who reads: a picture is a link to where it lies, or the words of the link it is in. */
markdown.renderer.rules.image = (tokens, index) => {
  const { escapeHtml } = markdown.utils
  const address = String(tokens[index]?.attrGet('src') ?? '')
  const words = escapeHtml(tokens[index]?.content || address)
  const depth = tokens.slice(0, index).reduce((sum, { type, nesting }) => sum + (/^link_/.test(type) ? nesting : 0), 0)
  return depth > 0 ? words : `<a href="${escapeHtml(address)}">${words}</a>`
}

/** Safe HTML of one Markdown block; finished blocks are remembered. */
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
