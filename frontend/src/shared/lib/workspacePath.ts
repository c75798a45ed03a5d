import type MarkdownIt from 'markdown-it'

/** What models write before a path of the workspace, as other products name files so. */
const SCHEME = /^(sandbox|file|attachments?|computer|workspace):(.*)$/is
const SCHEMED = /^[a-z][a-z0-9+.-]*:/i
const ENDING = /\.\p{L}[\p{L}\p{N}]{0,9}$/u
/** A destination with blanks, of a file by its ending, and perhaps a title. */
const SPACED =
  /^([^()<>\n"]*(?:\([^()\n]*\)[^()<>\n"]*)*?\.[\p{L}\p{N}]{1,10}(?:[?#][^\s()]*)?)(?:[ \t]+"[^"\n]*")?[ \t]*\)/u
const LONGEST = 1_000

/** An address with a scheme that means a file of the workspace, as one from the workspace's root; null for any other. */
export function workspaceAddress(address: string): string | null {
  const [, scheme = '', rest = ''] = SCHEME.exec(address.trim()) ?? []
  if (scheme === '') return null
  const inside = rest.replace(/^\/\/localhost(?=\/)/i, '').replace(/^\/+/, '')
  // A file of the machine is none of ours.
  if (scheme.toLowerCase() === 'file' && !/^workspace(?:\/|$)/.test(inside)) return null
  return `/workspace/${inside.replace(/^(?:workspace|mnt\/data)\//, '')}`
}

/** A link without a scheme, or with one that means the workspace, names a file of it, unless it is a signed link. */
export function workspacePath(href: string): string | null {
  const address = withoutLine(workspaceAddress(href) ?? href)
  if (address === '' || /^(#|\/api\/files\/)/.test(address) || address.startsWith('//')) return null
  if (SCHEMED.test(address)) return null
  const path = withoutAnchor(address.replace(/^(?:\.?\/)+/, ''))
  return decoded(path).replace(/^workspace\//, '')
}

/** Without the line, or the line and column, that models write behind the name of a file. */
function withoutLine(address: string): string {
  const path = address.replace(/:\d+(?:[:-]\d+)?$/, '')
  return !path.includes(':') && ENDING.test(decoded(path)) ? path : address
}

/** A relative one where it begins like a scheme, which `main.py:12` does. */
function withoutScheme(address: string): string {
  return SCHEMED.test(address) && !SCHEMED.test(withoutLine(address)) ? `./${address}` : address
}

/** Without `#part` and `?query`; of `report #2.pdf` it is a part of the name. */
function withoutAnchor(address: string): string {
  const path = address.replace(/[?#].*$/s, '')
  return !ENDING.test(decoded(path)) && ENDING.test(decoded(address)) && !address.includes('?') ? address : path
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Teaches Markdown the ways in which models write paths: with schemes of their own, and with blanks in names. */
export function withWorkspacePaths(markdown: InstanceType<typeof MarkdownIt>): void {
  const normalize = markdown.normalizeLink.bind(markdown)
  markdown.normalizeLink = (url) => normalize(workspaceAddress(url) ?? withoutScheme(url))
  const parse = markdown.helpers.parseLinkDestination
  markdown.helpers.parseLinkDestination = (text, start, max) => {
    const found = parse(text, start, max)
    const after = found.ok ? text.slice(found.pos, max) : ''
    // Only what is no link by the rules.
    if (!found.ok || text[start] === '<' || /^\s*(?:\)|["'(])/.test(after) || !/^[ \t]/.test(after)) return found
    const rest = text.slice(start, Math.min(max, start + LONGEST))
    const [, destination = ''] = SPACED.exec(rest) ?? []
    if (destination === '' || (SCHEMED.test(destination) && !SCHEME.test(destination))) return found
    return { ok: true, pos: start + destination.length, str: destination }
  }
}
