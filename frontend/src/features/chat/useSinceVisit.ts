import { useDocumentVisibility } from '@vueuse/core'
import { computed, shallowRef, watch, type ComputedRef, type Ref } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { FileChanges } from '@/api/types'
import { useSessions } from '@/features/sessions'
import type { FileChange } from './changes'
import type { Row } from './fold'
import { endSeq } from './transcript'

/** The row of the first answer that the person has not seen yet, and what changed in the files since then. */
export interface SinceVisit {
  readonly key: string
  readonly changes: readonly FileChange[]
}

/**
 * What changed in the files since the person last looked, which is as far as they had read as they come: the mark moves on
 * while they read, and this stays until they come again.
 */
export function useSinceVisit(sessionId: string, rows: Readonly<Ref<readonly Row[]>>): ComputedRef<SinceVisit | null> {
  const sessions = useSessions()
  const visibility = useDocumentVisibility()
  const found = shallowRef<{ readonly after: number; readonly changes: readonly FileChange[] } | null>(null)
  let asked = -1

  async function look(): Promise<void> {
    const { unread = 0, read_seq: after = 0 } = sessions.byId.get(sessionId) ?? {}
    // Where nothing was ever read there was no last visit.
    if (visibility.value !== 'visible' || unread === 0 || after === 0 || after === asked) return
    asked = after
    try {
      const { files } = await call<FileChanges>('GET', `/sessions/${sessionId}/changes`, { query: { after } })
      if (asked !== after) return
      const changes = files.map((file): FileChange => {
        const {
          path,
          added,
          removed,
          is_known: isKnown,
          is_removed: isRemoved,
          is_cut: isCut,
          is_rewritten: isRewritten,
          diffs,
        } = file
        return { path, added, removed, isKnown, isRemoved, isCut, isRewritten, diffs }
      })
      found.value = changes.length > 0 ? { after, changes } : null
    } catch (error) {
      asked = -1
      // What the server does not answer is left out: each turn says by itself what it changed.
      if (!(error instanceof ApiError)) throw error
    }
  }
  // Before what is seen now is marked as read.
  watch([visibility, () => sessions.byId.has(sessionId)], look, { immediate: true, flush: 'sync' })

  return computed(() => {
    if (found.value === null) return null
    const { after, changes } = found.value
    const key = firstAnswerAfter(rows.value, after)
    return key === null ? null : { key, changes }
  })
}

/** The answer of the first turn that ended after that event: the last thing it says, or its end where it said nothing. */
function firstAnswerAfter(rows: readonly Row[], seq: number): string | null {
  const end = rows.findIndex((row) => row.kind === 'end' && endSeq(row) > seq)
  if (end < 0) return null
  const before = rows.slice(0, end)
  const answer = before.findLast(({ kind }) => kind === 'assistant' || kind === 'end' || kind === 'user')
  return (answer?.kind === 'assistant' ? answer : rows[end])?.key ?? null
}
