import DOMPurify from 'dompurify'
import { markdown } from './blocks'
import { idleMoment } from './idle'
import { isMathReady, mathHtml } from './math'
import { withCheckboxes } from './taskLists'
import { nameInText } from './invisibleCharacters'
import { workspacePath } from './workspacePath'
import { showsAll, withWrittenOut, type WrittenOut } from './writtenOut'

const KEPT = 400
const rendered = new Map<string, string>()

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName.toLowerCase() !== 'a') return
  if (node.hasAttribute('data-note') || node.hasAttribute('data-mark')) return
  const address = node.getAttribute('href') ?? ''
  const path = workspacePath(address)
  if (path !== null) {
    node.setAttribute('href', '#')
    node.setAttribute('data-path', path)
    node.setAttribute('data-address', address)
    return
  }
  node.setAttribute('target', '_blank')
  node.setAttribute('rel', 'noopener noreferrer nofollow')
})

/**
 * Not fetched, as that would tell who reads: a picture is a link to where it lies, or the words of the link it is in.
 * `data-picture` is its address, for who may show what lies in the workspace.
 */
markdown.renderer.rules.image = (tokens, index, _options, env) => {
  const { escapeHtml } = markdown.utils
  const address = String(tokens[index]?.attrGet('src') ?? '')
  const words = escapeHtml(tokens[index]?.content || ((env as Formulas).isWrittenOut ? address : nameAt(address)))
  const depth = tokens.slice(0, index).reduce((sum, { type, nesting }) => sum + (/^link_/.test(type) ? nesting : 0), 0)
  const at = escapeHtml(address)
  return depth > 0 ? words : `<a href="${at}" data-picture="${at}">${words}</a>`
}

function nameAt(address: string): string {
  const path = workspacePath(address)
  return path === null ? address : nameInText(path)
}

withWrittenOut(markdown)

interface Formulas extends WrittenOut {
  formulas?: { tex: string; isDisplayed: boolean }[]
}
/** A place for it: what is set by the library is made safe by rules of its own. */
markdown.renderer.rules['formula'] = (tokens, index, _options, env) => {
  const token = tokens[index]
  const { formulas = [] } = env as Formulas
  formulas.push({ tex: token?.content ?? '', isDisplayed: token?.markup === 'display' })
  Object.assign(env ?? {}, { formulas })
  return `<span data-formula="${formulas.length - 1}"></span>${token?.block ? '\n' : ''}`
}

/** No text can look like a place, as its quotes are written otherwise. */
function withFormulas(html: string, { formulas = [] }: Formulas, areSet: boolean): string {
  return html.replace(/<span data-formula="(\d+)"><\/span>/g, (_place, at: string) => {
    const { tex, isDisplayed } = formulas[Number(at)] ?? { tex: '', isDisplayed: false }
    const shown = areSet && isMathReady() ? mathHtml(tex, isDisplayed) : null
    const source = `<code>${markdown.utils.escapeHtml(tex)}</code>`
    return `<span class="${isDisplayed ? 'formula displayed' : 'formula'}">${shown ?? source}</span>`
  })
}

/**
 * Safe HTML of one Markdown block; finished blocks are remembered. With `isWrittenOut`, for where somebody decides by
 * what they read, targets of links are shown, and formulas as their source: TeX can hide a part of one, or lay it over
 * another. What is `passing`, as more of it is being written, is not remembered.
 */
export function renderBlock(source: string, { isWrittenOut = false, passing = false } = {}): string {
  const key = `${isWrittenOut ? '=' : ''}${source}`
  const known = rendered.get(key)
  if (known !== undefined) return known
  const env: Formulas = { isWrittenOut }
  const clean = DOMPurify.sanitize(markdown.render(source, env), {
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'img', 'svg', 'math', 'iframe'],
    FORBID_ATTR: ['style'],
    ADD_ATTR: ['target'],
  })
  const html = withFormulas(withCheckboxes(clean), env, !isWrittenOut)
  if (passing || (!isWrittenOut && env.formulas && !isMathReady())) return html
  if (rendered.size >= KEPT) rendered.delete(rendered.keys().next().value ?? '')
  rendered.set(key, html)
  return html
}

/** Markdown of the most common kinds. */
const COMMON = '## A\n\n**b** _c_ `d` [e](https://f.example)\n\n- g\n\n1. h\n\n> i\n\n| j |\n| - |\n| k |\n'
/** Renders once in an idle moment, as code that runs for the first time would hold up the first frame of an answer. */
export async function warmUp(): Promise<void> {
  await idleMoment()
  renderBlock(COMMON, { passing: true })
}

/** `renderBlock`, written out; null where something of the source would still not be seen. */
export function renderWhole(source: string): string | null {
  const html = renderBlock(source, { isWrittenOut: true })
  const shown = new DOMParser().parseFromString(html, 'text/html').body.textContent
  return showsAll(markdown, source, shown) ? html : null
}
