import { onScopeDispose, ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import type { ChangeMcpServerBody, McpServer } from '@/api/types'
import { useProblemText } from '@/api/useProblemText'

/** What the server takes for a name. */
export const MCP_NAME_PATTERN = /^(?=.{1,32}$)[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/

export const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** Headers or variables as a person writes them, one a line; one without a value keeps the value that is saved. */
export function valuesIn(text: string, separator: ':' | '='): Record<string, string | null> {
  return Object.fromEntries(
    linesIn(text).map((line) => {
      const at = line.indexOf(separator)
      const name = (at < 0 ? line : line.slice(0, at)).trim()
      return [name, at < 0 ? null : line.slice(at + 1).trim() || null]
    }),
  )
}

/** As it was, with one of its fields changed. Values are never told, so they stay. */
export function bodyOf(server: McpServer, change: Partial<ChangeMcpServerBody> = {}): ChangeMcpServerBody {
  const kept = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, null]))
  return {
    type: server.type,
    url: server.url ?? '',
    command: server.command ?? '',
    args: server.args,
    env: kept(server.env),
    headers: kept(server.headers),
    enabled: server.enabled,
    tools: server.only,
    ...change,
  }
}

type Doing = 'save' | 'delete' | 'test'

/** The MCP servers of this person's conversations, and what is done about one's own. */
export function useMcpServers() {
  const list = shallowRef<McpServer[] | null>(null)
  const doing = ref<Doing | null>(null)
  const problem = ref('')
  /** What the problem is about: a name, or '' for the page. */
  const about = ref('')
  const problemText = useProblemText()
  const ending = new AbortController()
  onScopeDispose(() => ending.abort())

  async function attempt(name: string, work: () => Promise<void>): Promise<boolean> {
    problem.value = ''
    about.value = name
    try {
      await work()
      return true
    } catch (error) {
      if (!ending.signal.aborted) problem.value = problemText(error)
      return false
    }
  }
  async function during(what: Doing, name: string, work: () => Promise<unknown>): Promise<boolean> {
    if (doing.value) return false
    doing.value = what
    try {
      return await attempt(name, async () => void (await work()))
    } finally {
      doing.value = null
    }
  }
  const path = (name: string) => `/mcp/${encodeURIComponent(name)}`
  const fetched = async (): Promise<void> => {
    list.value = await call<McpServer[]>('GET', '/mcp', { signal: ending.signal })
  }
  const load = (): Promise<boolean> => attempt('', fetched)
  const save = (name: string, body: ChangeMcpServerBody): Promise<boolean> =>
    during('save', name, async () => {
      await call<McpServer>('PUT', path(name), { body })
      await fetched()
    })
  const remove = (name: string): Promise<boolean> =>
    during('delete', name, async () => {
      await call('DELETE', path(name))
      await fetched()
    })
  /** Of one of everybody the outcome is shown here alone, as nobody keeps it. */
  const test = (name: string): Promise<boolean> =>
    during('test', name, async () => {
      const tried = await call<McpServer>('POST', `${path(name)}/test`)
      list.value = (list.value ?? []).map((one) =>
        one.name === tried.name && one.source === tried.source ? tried : one,
      )
    })
  return { list, doing, problem, about, load, save, remove, test }
}
