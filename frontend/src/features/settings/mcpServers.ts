import { call } from '@/api/client'
import type { ChangeMcpServerBody, McpServer } from '@/api/types'
import { useListWork } from './listWork'
import { useMcpSignIn } from './mcpSignIn'

/** What the server takes for a name. */
export const MCP_NAME_PATTERN = /^(?=.{1,32}$)[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/

export const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** A text of several lines in one line: in double quotes, as in JSON. Others are written as they are. */
const quoted = (text: string): string => (isPlain(text) ? text : JSON.stringify(text))
const isPlain = (text: string): boolean => text !== '' && text === text.trim() && !/[\n\r]/.test(text)

function unquoted(line: string): string {
  if (!/^".*"$/.test(line)) return line
  try {
    const text: unknown = JSON.parse(line)
    return typeof text === 'string' && !isPlain(text) ? text : line
  } catch {
    return line
  }
}

/** Arguments as a person writes them, one a line. */
export const argumentsText = (args: readonly string[]): string => args.map(quoted).join('\n')
export const argumentsIn = (text: string): string[] => linesIn(text).map(unquoted)

/** Headers or variables as a person writes them, one a line; one without a value keeps the value that is saved. */
export function valuesIn(text: string, separator: ':' | '='): Record<string, string | null> {
  return Object.fromEntries(
    linesIn(text).map((line) => {
      const at = line.indexOf(separator)
      const name = (at < 0 ? line : line.slice(0, at)).trim()
      return [name, at < 0 ? null : unquoted(line.slice(at + 1).trim()) || null]
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
    oauth: server.client_id ? { client_id: server.client_id, client_secret: null } : null,
    ...change,
  }
}

/** The MCP servers of this person's conversations, and what is done about one's own. `onBack`: from signing in. */
export function useMcpServers(onBack: (name: string) => void) {
  const { during, changing, ...work } = useListWork<McpServer, 'save' | 'delete' | 'test' | 'signIn' | 'signOut'>(
    (signal) => call<McpServer[]>('GET', '/mcp', { signal }),
  )
  const path = (name: string) => `/mcp/${encodeURIComponent(name)}`
  const save = (name: string, body: ChangeMcpServerBody): Promise<boolean> =>
    changing('save', name, () => call<McpServer>('PUT', path(name), { body }))
  const remove = (name: string): Promise<boolean> => changing('delete', name, () => call('DELETE', path(name)))
  /** Of one of everybody the outcome is shown here alone, as nobody keeps it. A program is tried in the computer of a
   * conversation. */
  const test = (name: string, session: string | null = null): Promise<boolean> =>
    during('test', name, async () => {
      const where = session ? `?session_id=${encodeURIComponent(session)}` : ''
      const tried = await call<McpServer>('POST', `${path(name)}/test${where}`)
      work.list.value = (work.list.value ?? []).map((one) =>
        one.name === tried.name && one.source === tried.source ? tried : one,
      )
    })
  const signing = useMcpSignIn((name, begin) => during('signIn', name, begin), onBack)
  const signOut = (name: string): Promise<boolean> =>
    changing('signOut', name, () => call('DELETE', `${path(name)}/sign-in`))
  return { ...work, save, remove, test, ...signing, signOut }
}
