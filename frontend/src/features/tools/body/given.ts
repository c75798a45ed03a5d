import { showInvisible } from '@/shared/lib/invisibleCharacters'

/** One argument of a call as a person reads it. */
export interface Given {
  readonly name: string
  readonly text: string
}

/** The arguments of a call in words: a text as it is, a list one to a line, and of what has parts those. */
export function givenIn(given: Readonly<Record<string, unknown>>): Given[] {
  return Object.entries(given)
    .map(([name, value]) => ({ name: showInvisible(name), text: showInvisible(wordsOf(value)) }))
    .filter(({ text }) => text !== '')
}

function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => partsOf(one)).join('\n')
  return partsOf(value)
}

function partsOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return ''
  if (typeof value !== 'object' || Array.isArray(value)) return JSON.stringify(value, null, 1)
  const parts = Object.values(value)
  if (parts.some((part) => typeof part === 'object' && part !== null)) return JSON.stringify(value, null, 1)
  return parts.map(partsOf).filter(Boolean).join(' · ')
}
