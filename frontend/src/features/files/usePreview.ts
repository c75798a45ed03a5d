import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import { call, callRaw } from '@/api/client'
import type { FileContent } from '@/api/types'
import { pdfUrl, pictureUrl } from '@/shared/lib/shownContent'
import { kindOf, type PreviewKind } from './kinds'

const LARGEST_SHOWN_BYTES = 64 * 1024 * 1024

export interface Preview {
  readonly kind: PreviewKind
  readonly content: FileContent
  readonly url: string | null
}

/** What can be shown of one file: its text, or an address of its bytes for pictures and PDF. */
export function usePreview(sessionId: () => string, path: () => string | null, version: () => number) {
  const preview = shallowRef<Preview | null>(null)
  const problem = shallowRef<unknown>(null)
  const isLoading = ref(false)
  let abort = new AbortController()

  function show(next: Preview | null): void {
    if (preview.value?.url) URL.revokeObjectURL(preview.value.url)
    preview.value = next
  }
  async function load(wanted: string): Promise<void> {
    abort.abort()
    abort = new AbortController()
    const { signal } = abort
    isLoading.value = true
    try {
      const query = { path: wanted }
      const content = await call<FileContent>('GET', `/sessions/${sessionId()}/files/content`, { query, signal })
      let kind = kindOf(content)
      let url: string | null = null
      if (kind === 'image' || kind === 'pdf') {
        if (content.size <= LARGEST_SHOWN_BYTES) {
          const response = await callRaw('GET', `/sessions/${sessionId()}/files/download`, { query, signal })
          const bytes = await response.blob()
          url = kind === 'pdf' ? await pdfUrl(bytes) : await pictureUrl(bytes, content.name)
        }
        // By its name only: what is in there decides.
        if (url === null) kind = content.content === null ? 'binary' : 'code'
      }
      if (signal.aborted) {
        if (url) URL.revokeObjectURL(url)
        return
      }
      show({ kind, content, url })
      problem.value = null
    } catch (error) {
      if (signal.aborted) return
      show(null)
      problem.value = error
    } finally {
      if (!signal.aborted) isLoading.value = false
    }
  }
  watch(
    [path, version],
    ([wanted]) => {
      if (wanted) void load(wanted)
      else show(null)
    },
    { immediate: true },
  )
  onScopeDispose(() => {
    abort.abort()
    show(null)
  })
  return { preview, problem, isLoading }
}
