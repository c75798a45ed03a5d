import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import { readAtMost } from '@/api/bounded'
import { call, callRaw } from '@/api/client'
import type { FileContent } from '@/api/types'
import { pdfUrl, pictureUrl } from '@/shared/lib/shownContent'
import { inertHtml } from './inertHtml'
import { kindOf, type PreviewKind } from './kinds'

/** More of a file is not fetched to be shown: it would have to lie in the page's memory. */
export const LARGEST_SHOWN_BYTES = 32_000_000
const LARGEST_HTML_BYTES = 4 * 1024 * 1024

export interface Preview {
  /** Of the file, as it was asked for. */
  readonly path: string
  readonly kind: PreviewKind
  readonly content: FileContent
  readonly url: string | null
  /** A document for a frame in a sandbox, and whether only its beginning. */
  readonly html: { readonly document: string; readonly isCut: boolean } | null
}

/** What can be shown of one file: its text, a document, or an address of its bytes for pictures and PDF. */
export function usePreview(sessionId: () => string, path: () => string | null, version: () => number) {
  const preview = shallowRef<Preview | null>(null)
  const problem = shallowRef<unknown>(null)
  const isLoading = ref(false)
  let abort = new AbortController()

  function show(next: Preview | null): void {
    if (preview.value?.url) URL.revokeObjectURL(preview.value.url)
    preview.value = next
  }
  function leave(): void {
    abort.abort()
    isLoading.value = false
    show(null)
  }
  async function load(wanted: string): Promise<void> {
    abort.abort()
    abort = new AbortController()
    const { signal } = abort
    isLoading.value = true
    try {
      const query = { path: wanted }
      const content = await call<FileContent>('GET', `/sessions/${sessionId()}/files/content`, { query, signal })
      const bytes = (most: number): Promise<Blob | null> =>
        content.size > most
          ? Promise.resolve(null)
          : callRaw('GET', `/sessions/${sessionId()}/files/download`, { query, signal }).then((response) =>
              readAtMost(response, most),
            )
      let kind = kindOf(content)
      let url: string | null = null
      let html: Preview['html'] = null
      if (kind === 'html') {
        const whole = content.truncated ? await bytes(LARGEST_HTML_BYTES) : null
        const source = (await whole?.text()) ?? content.content ?? ''
        const document = inertHtml(source)
        if (document !== null) html = { document, isCut: content.truncated && whole === null }
        else kind = 'code'
      } else if (kind === 'image' || kind === 'pdf') {
        const whole = await bytes(LARGEST_SHOWN_BYTES)
        if (whole) url = kind === 'pdf' ? await pdfUrl(whole) : await pictureUrl(whole, content.name)
        // By its name only: what is in there decides.
        if (url === null) kind = content.content !== null ? 'code' : whole ? 'binary' : 'large'
      }
      if (signal.aborted) {
        if (url) URL.revokeObjectURL(url)
        return
      }
      show({ path: wanted, kind, content, url, html })
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
      else leave()
    },
    { immediate: true },
  )
  onScopeDispose(leave)
  return { preview, problem, isLoading }
}
