import { namedRecords, replaceRecords } from '@/shared/lib/records'
import type { SharedEvent } from './shared'

/** How texts name papers to a stranger, to whom the id of a record says nothing. */
export interface SharedPapers {
  readonly inText: (text: string) => string
  readonly inMarkdown: (text: string) => string
}
interface Named {
  readonly ids: readonly string[]
  readonly titles: readonly (readonly [id: string, title: string])[]
}

/** As tools tell of a record: `rec_…: Its title`, to the end of the line. */
const TITLED = /(?<![A-Za-z0-9])(rec_[0-9a-f]{32}): ([^\n]{1,300})/g
/** A quoted id is shown without its quotes, in which marks of Markdown would stand as they are. */
const QUOTED = /`(rec_[0-9a-f]{32})`/g
const MARKS = /([\\`*_[\]<>$@^~|#!])/g
const LONG = 80

function titlesIn({ preview, display }: SharedEvent): Named['titles'] {
  const lines = typeof preview === 'string' ? [...preview.matchAll(TITLED)] : []
  const told = lines.map(([, id = '', title = '']) => [id, title.trim()] as const)
  const { type, items } = (display ?? {}) as { type?: unknown; items?: unknown }
  if (type !== 'findings' || !Array.isArray(items)) return told
  const found = items as readonly { record?: unknown; title?: unknown }[]
  return [...told, ...found.map(({ record, title }) => [String(record), String(title ?? '')] as const)]
}

/** Of each event once: those of a link that is followed come one by one. */
const known = new WeakMap<SharedEvent, Named>()
function namedIn(event: SharedEvent): Named {
  const before = known.get(event)
  if (before) return before
  const named = { ids: namedRecords(JSON.stringify(event)), titles: titlesIn(event) }
  known.set(event, named)
  return named
}

/** By their titles, where those are part of what is shared, else by numbers in the order in which they are named. */
export function papersOf(events: readonly SharedEvent[], numbered: (number: number) => string): SharedPapers {
  const numbers = new Map<string, number>()
  const titles = new Map<string, string>()
  for (const event of events) {
    const named = namedIn(event)
    for (const id of named.ids) if (!numbers.has(id)) numbers.set(id, numbers.size + 1)
    for (const [id, title] of named.titles) if (title) titles.set(id, title)
  }
  function nameOf(id: string): string {
    const title = titles.get(id)
    if (title) return title.length > LONG ? `${title.slice(0, LONG)}…` : title
    // In what is read only when it is asked for there may be more.
    if (!numbers.has(id)) numbers.set(id, numbers.size + 1)
    return numbered(numbers.get(id) ?? 0)
  }
  return {
    inText: (text) => replaceRecords(text, nameOf),
    inMarkdown: (text) =>
      replaceRecords(text.replace(QUOTED, '$1'), (id) => nameOf(id).replace(MARKS, String.raw`\$1`)),
  }
}
