import { onScopeDispose, shallowRef, watch } from 'vue'
import { call } from '@/api/client'
import type { FileContent } from '@/api/types'

/** The text that a file has now; null as long as it is not known, and where there is none or not all of it is text. */
export function useFormerText(sessionId: () => string, path: () => string | null) {
  const former = shallowRef<string | null>(null)
  let abort = new AbortController()
  watch(
    path,
    async (wanted) => {
      abort.abort()
      abort = new AbortController()
      former.value = null
      if (wanted === null) return
      const { signal } = abort
      const query = { path: wanted }
      const found = await call<FileContent>('GET', `/sessions/${sessionId()}/files/content`, { query, signal }).catch(
        () => null,
      )
      if (!signal.aborted && found && !found.truncated) former.value = found.content
    },
    { immediate: true },
  )
  onScopeDispose(() => abort.abort())
  return former
}
