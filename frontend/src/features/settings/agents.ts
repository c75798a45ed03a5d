import { call } from '@/api/client'
import type { AgentKind, ChangeAgentBody } from '@/api/types'
import { useListWork } from './listWork'

/** What the server takes for a name. */
export const NAME_PATTERN = /^[a-z0-9][a-z0-9_-]{0,39}$/

/** What an agent of a kind may have at most, as the server takes it. */
export const LIMITS = {
  max_calls: { least: 1, most: 1_000 },
  max_tokens: { least: 1_000, most: 100_000_000 },
  max_minutes: { least: 1, most: 25 },
} as const
export type LimitTexts = Record<keyof typeof LIMITS, string>

/** A limit as a person writes it; null is none, NaN what is not one. */
export function limitIn(text: string, name: keyof LimitTexts): number | null {
  const written = text.trim()
  if (!written) return null
  const value = /^\d+$/.test(written) ? Number(written) : NaN
  return value >= LIMITS[name].least && value <= LIMITS[name].most ? value : NaN
}

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
  const { changing, ...work } = useListWork<AgentKind, 'save' | 'delete'>((signal) =>
    call<AgentKind[]>('GET', '/agents', { signal }),
  )
  const path = (name: string) => `/agents/${encodeURIComponent(name)}`
  const save = (name: string, body: ChangeAgentBody): Promise<boolean> =>
    changing('save', name, () => call<AgentKind>('PUT', path(name), { body }))
  const remove = (name: string): Promise<boolean> => changing('delete', name, () => call('DELETE', path(name)))
  return { ...work, save, remove }
}
