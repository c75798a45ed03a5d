import { shallowReactive, shallowRef } from 'vue'
import { call } from '@/api/client'
import type { CorpusPage, CorpusRecord } from '@/api/types'
import { replaceRecords } from '@/shared/lib/records'

/** How long those that are named one after the other wait for each other. */
const GATHER_MS = 30
const AT_ONCE = 50
/** One that was not there may be kept meanwhile. */
const AGAIN_MS = 60_000
/** Null: it is not among the papers that are kept. */
const known = shallowReactive(new Map<string, CorpusRecord | null>())
const asked = new Map<string, number>()
const wanted: string[] = []
/** The one that the panel Papers is to show. */
export const askedRecord = shallowRef<{ readonly id: string } | null>(null)

export const recordOf = (id: string): CorpusRecord | null | undefined => known.get(id)
export const forgetRecord = (id: string): void => void known.set(id, null)

/** Asks for a record that is named somewhere, together with others that are named at that time. */
export function needRecord(id: string): void {
  if (known.get(id) || Date.now() - (asked.get(id) ?? -AGAIN_MS) < AGAIN_MS) return
  asked.set(id, Date.now())
  if (wanted.push(id) === 1) setTimeout(() => void askFor(wanted.splice(0)), GATHER_MS)
}
async function askFor(ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE)
    const names = some.map((id) => `id=${encodeURIComponent(id)}`).join('&')
    try {
      const { items } = await call<CorpusPage>('GET', `/corpus?limit=${some.length}&${names}`)
      for (const id of some) known.set(id, items.find((one) => one.id === id) ?? null)
    } catch {
      // They stay as they are written, until they are shown anew.
      for (const id of some) asked.delete(id)
    }
  }
}

/** `LeCun 2015`; of one without authors its title. */
export function shortName({ authors, year, title }: CorpusRecord): string {
  const [first = ''] = authors
  const family = first.includes(',')
    ? first.slice(0, first.indexOf(',')).trim()
    : (first.trim().split(/\s+/).at(-1) ?? '')
  const name = family || (title.length > 40 ? `${title.slice(0, 40)}…` : title)
  return year === null ? name : `${name} ${year}`
}

/** For whoever reads a text elsewhere: with titles and addresses in place of the names of records. */
export function withTitles(text: string): string {
  return replaceRecords(text, (id) => {
    const record = known.get(id)
    return record ? [record.title, record.year, record.url].filter(Boolean).join(', ') : id
  })
}
