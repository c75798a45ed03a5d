import { useI18n } from 'vue-i18n'
import { awaitsComputer, type ToolCard } from './body/card'

/** What a tool of an MCP server is called here: by its server and its own name. */
const OF_SERVER = /^mcp__([\w-]+?)__(.+)$/
const LONGEST_VALUE = 80
type Call = Pick<ToolCard, 'name' | 'arguments' | 'phrase' | 'outcome'> & { readonly startedAt?: string | null }

function oneLine(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  const points = [
    ...String(value)
      .slice(0, LONGEST_VALUE * 20)
      .replace(/\s+/g, ' ')
      .trim(),
  ]
  return points.length > LONGEST_VALUE ? `${points.slice(0, LONGEST_VALUE - 1).join('')}…` : points.join('')
}

/** What the call `task` gives another agent, in a few words; conversations of before have it by another name. */
export function givenTask(given: Readonly<Record<string, unknown>>): unknown {
  return given['description'] ?? given['title']
}

/** Whether a path is the workspace itself, of which a phrase speaks by name. */
export function isWorkspace(path: unknown): boolean {
  return path === undefined || path === '' || path === '.' || path === './'
}

/**
 * What a call is to do, does or did, in the page's language and the tense of its state. Of a tool the page does not know the
 * server's phrase is said while it runs, and its name afterwards.
 */
export function useToolPhrase(): (call: Call) => string {
  const { t, te } = useI18n()
  return ({ name, arguments: given, phrase, outcome: is, startedAt = '' }) => {
    // What was refused, or has not begun, is still what was asked for.
    const hasNotBegun = is === 'approved' || is === 'skipped' || awaitsComputer({ outcome: is, startedAt })
    const outcome = is === 'refused' || hasNotBegun ? 'asking' : is
    const key = `phrase.${name}.${outcome}`
    const told =
      name === 'file_list' && isWorkspace(given['path'])
        ? { ...given, path: t('anyPhrase.workspace') }
        : name === 'task'
          ? { ...given, description: givenTask(given) }
          : given
    if (/^\w+$/.test(name) && te(key, 'en'))
      return t(key, Object.fromEntries(Object.entries(told).map(([slot, value]) => [slot, oneLine(value)]))).trim()
    const [, server, tool] = OF_SERVER.exec(name) ?? []
    if (server && tool) return t(`anyPhrase.${outcome}`, { name: t('anyPhrase.ofServer', { server, tool }) })
    return outcome === 'running' ? phrase || name : t(`anyPhrase.${outcome}`, { name })
  }
}
