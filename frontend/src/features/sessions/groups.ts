import type { FolderInfo } from '@/api/types'
import type { KnownSession } from './known'

export type Period = 'today' | 'yesterday' | 'week' | 'older'
/** A part of the list: what waits for the person, what is pinned, a folder, or a time. */
export type Group =
  | { readonly kind: 'waiting' | 'pinned' | 'archived'; readonly sessions: readonly KnownSession[] }
  | { readonly kind: 'folder'; readonly folder: FolderInfo; readonly sessions: readonly KnownSession[] }
  | { readonly kind: Period; readonly sessions: readonly KnownSession[] }

const DAY_MS = 86_400_000

/** By the days of whoever looks, not by hours. */
export function periodOf(at: string, now: Date): Period {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime()
  const time = Date.parse(at)
  if (time >= midnight) return 'today'
  // Noon of the day before, as a day of a change of the clocks has 23 or 25 hours.
  const before = new Date(midnight - DAY_MS / 2)
  if (time >= new Date(before.getFullYear(), before.getMonth(), before.getDate()).getTime()) return 'yesterday'
  return time >= midnight - 6 * DAY_MS ? 'week' : 'older'
}

/** The list in its parts, in their order; each conversation stands in one. Folders stand there also where they are empty. */
export function grouped(
  sessions: readonly KnownSession[],
  folders: readonly FolderInfo[],
  now: Date,
  showsArchived: boolean,
): Group[] {
  const known = new Set(folders.map(({ id }) => id))
  const rest = sessions.filter(({ archived }) => !archived)
  const waiting = rest.filter(({ status }) => status === 'waiting')
  const others = rest.filter(({ status }) => status !== 'waiting')
  const pinned = others.filter((one) => one.pinned)
  const unpinned = others.filter((one) => !one.pinned)
  const loose = unpinned.filter(({ folder_id: id }) => !id || !known.has(id))
  const groups: Group[] = [
    { kind: 'waiting', sessions: waiting },
    { kind: 'pinned', sessions: pinned },
    ...folders.map((folder): Group => {
      return { kind: 'folder', folder, sessions: unpinned.filter(({ folder_id: id }) => id === folder.id) }
    }),
    ...(['today', 'yesterday', 'week', 'older'] as const).map((kind): Group => {
      return { kind, sessions: loose.filter((one) => periodOf(one.active_at, now) === kind) }
    }),
  ]
  if (showsArchived) groups.push({ kind: 'archived', sessions: sessions.filter(({ archived }) => archived) })
  return groups.filter((group) => group.kind === 'folder' || group.kind === 'archived' || group.sessions.length > 0)
}
