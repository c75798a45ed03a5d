import { useEventListener } from '@vueuse/core'
import { shallowRef } from 'vue'
import { markedUser } from '@/api/tokens'
import type { WritingProject, WritingSection } from '@/api/types'
import { namesBeginning, recall, recallJson, remember, textsOf } from '@/shared/lib/storage'

/** A text that is not saved, and the one that was there when it was begun. */
export interface Draft {
  readonly base: { readonly etag: string; readonly text: string }
  readonly text: string
}
export type Drafts = ReturnType<typeof useDrafts>

/** The name of what a person makes of the suggestion for this section. That of its own text is the id of the section. */
export const editOf = ({ id, suggestion }: WritingSection): string => `${id}:${suggestion?.id ?? ''}`

const isDraft = (value: unknown): value is Draft => {
  const { base, text } = (value ?? {}) as Partial<Draft>
  return typeof text === 'string' && typeof base?.etag === 'string' && typeof base.text === 'string'
}

/**
 * What is written in a project and not saved, kept in this browser until it is: it stays when another section or page is
 * shown, or the page is loaded anew. Tabs of the browser have one and the same: what is typed in one stands in the other.
 * `changedElsewhere` is called where another tab has saved something, or decided on it.
 */
export function useDrafts(project: string, changedElsewhere: () => void = () => undefined) {
  const place = `${textsOf(markedUser() ?? '')}${project}:`
  const all = shallowRef<Readonly<Record<string, Draft>>>({})
  /** Where this browser keeps nothing, or has no room, they are only here. */
  const unkept = new Set<string>()
  readAgain()
  const atFirst = Object.keys(all.value)

  function set(name: string, draft: Draft | null): void {
    const others = Object.entries(all.value).filter(([other]) => other !== name)
    all.value = Object.fromEntries(draft ? [...others, [name, draft]] : others)
  }
  function readAgain(): void {
    const here = Object.entries(all.value).filter(([name]) => unkept.has(name))
    const kept = namesBeginning(place).flatMap((key): [string, Draft][] => {
      const draft = recallJson<Draft | null>(key, isDraft, null)
      return draft ? [[key.slice(place.length), draft]] : []
    })
    all.value = Object.fromEntries([...kept, ...here])
  }
  const of = (name: string): Draft | undefined => all.value[name]
  function keep(name: string, draft: Draft | null): void {
    set(name, draft)
    const value = draft && JSON.stringify(draft)
    remember(`${place}${name}`, value)
    if (recall(`${place}${name}`) === value) unkept.delete(name)
    else unkept.add(name)
  }
  /** What was begun on a suggestion that is decided or replaced is over, and a text that is stored is no draft. */
  function settle(now: WritingProject, before: WritingProject | null): void {
    const waiting = new Set(now.sections.map(editOf))
    const known = before ? before.sections.map(editOf) : atFirst.filter((name) => name.includes(':'))
    for (const name of known) if (!waiting.has(name) && of(name)) keep(name, null)
    for (const { id, text } of now.sections) if (of(id)?.text === text) keep(id, null)
  }
  function clear(): void {
    for (const name of Object.keys(all.value)) keep(name, null)
  }
  useEventListener(window, 'storage', ({ key, newValue }) => {
    if (key === null) return readAgain()
    if (!key.startsWith(place)) return
    const name = key.slice(place.length)
    unkept.delete(name)
    set(name, recallJson<Draft | null>(key, isDraft, null))
    if (newValue === null) changedElsewhere()
  })
  // A page that was put aside by the browser has heard nothing meanwhile.
  useEventListener(window, 'pageshow', ({ persisted }) => persisted && readAgain())

  return { all, of, keep, settle, clear, areKept: () => unkept.size === 0 }
}
