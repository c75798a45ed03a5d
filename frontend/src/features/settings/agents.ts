import { onScopeDispose, ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import type { AgentKind, ChangeAgentBody } from '@/api/types'
import { useProblemText } from '@/api/useProblemText'

/** What the server takes for a name. */
export const NAME_PATTERN = /^[a-z0-9][a-z0-9_-]{0,39}$/

/** Names and globs of tools as a person writes them. */
export function rulesIn(text: string): string[] {
  return [...new Set(text.split(/[\s,，、]+/).filter(Boolean))]
}

/** The list with this name, or without it where it was there. */
export function toggledRule(text: string, name: string): string {
  const rules = rulesIn(text)
  return (rules.includes(name) ? rules.filter((rule) => rule !== name) : [...rules, name]).join(', ')
}

/** The kinds of sub-agents that this person's conversations have, and what is done about one's own. */
export function useAgents() {
  const list = shallowRef<AgentKind[] | null>(null)
  const doing = ref<'save' | 'delete' | null>(null)
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
  async function during(what: 'save' | 'delete', name: string, work: () => Promise<unknown>): Promise<boolean> {
    if (doing.value) return false
    doing.value = what
    try {
      return await attempt(name, async () => {
        await work()
        await fetched()
      })
    } finally {
      doing.value = null
    }
  }
  const fetched = async (): Promise<void> => {
    list.value = await call<AgentKind[]>('GET', '/agents', { signal: ending.signal })
  }
  const load = (): Promise<boolean> => attempt('', fetched)
  const save = (name: string, body: ChangeAgentBody): Promise<boolean> =>
    during('save', name, () => call<AgentKind>('PUT', `/agents/${encodeURIComponent(name)}`, { body }))
  const remove = (name: string): Promise<boolean> =>
    during('delete', name, () => call('DELETE', `/agents/${encodeURIComponent(name)}`))
  return { list, doing, problem, about, load, save, remove }
}
