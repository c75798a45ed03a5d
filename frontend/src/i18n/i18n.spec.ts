import { describe, expect, it } from 'vitest'
import first from './en'
import later from './enLater'
import zh from './zh'

type Tree = { readonly [key: string]: string | Tree }
/** A group may have its first words with the first paint, and the others later. */
const both = <One extends Tree, Other extends Tree>(one: One, other: Other): One & Other => {
  const merged: Record<string, string | Tree> = { ...one }
  for (const [key, value] of Object.entries(other)) {
    const before = merged[key]
    merged[key] = typeof before === 'object' && typeof value === 'object' ? both(before, value) : value
  }
  return merged as One & Other
}
const en = both(first, later)

const slots = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '').sort()
const leaves = (tree: Tree, path = ''): [string, string][] =>
  Object.entries(tree).flatMap(([key, value]) =>
    typeof value === 'string' ? [[`${path}${key}`, value] as [string, string]] : leaves(value, `${path}${key}.`),
  )

/** What is told of many alone. */
const ALWAYS_MANY: ReadonlySet<string> = new Set([
  'approval.length',
  'plan.tooLong',
  'composer.longDraft',
  'notice.mcp_too_many',
  'settings.keys.tooLong',
  'schedules.missed',
  'memories.tooLong',
])

describe('messages', () => {
  it('exist in both languages with the same slots', () => {
    const shape = (tree: Tree) =>
      leaves(tree).flatMap(([key, text]) => (key.startsWith('problem.') ? [] : [[key, slots(text)]]))
    const ordered = (tree: Tree) => shape(tree).toSorted()
    expect(ordered(zh)).toEqual(ordered(en))
  })
  it('have a word for one where they count', () => {
    const counted = /\{(count|limit|turns|size|length|total)\} [a-z]+s\b/
    const wrong = leaves(en).filter(
      ([key, text]) => counted.test(text) && !text.includes(' | ') && !ALWAYS_MANY.has(key),
    )
    expect(wrong).toEqual([])
  })
  it('address a person in one way in Chinese', () => {
    expect(leaves(zh).filter(([, text]) => text.includes('您'))).toEqual([])
  })
  it('of problems exist in Chinese too; English has but those it says better than the server', () => {
    const own = leaves(en.problem)
    expect(own.filter(([key]) => !(key in zh.problem))).toEqual([])
    for (const [key, text] of own) expect(slots(zh.problem[key as keyof typeof en.problem])).toEqual(slots(text))
    for (const [, text] of leaves(zh)) expect(text.replaceAll(/\{\w+\}/g, '')).not.toMatch(/server|The /)
  })
})
