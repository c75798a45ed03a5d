import { computed, onScopeDispose, ref, shallowRef } from 'vue'
import { readAtMost } from '@/api/bounded'
import { callRaw } from '@/api/client'
import { ApiError } from '@/api/problems'
import { pictureUrl } from '@/shared/lib/shownContent'
import { useProblemText } from '@/api/useProblemText'
import type { ToolCard } from './card'

const LARGEST_BYTES = 32_000_000

/** The whole body of a result, fetched when asked for: text, or an address for a picture. */
export function useBody(sessionId: () => string, card: () => ToolCard) {
  const text = ref<string | null>(null)
  const url = ref<string | null>(null)
  const problem = ref('')
  const isLoading = ref(false)
  const problemText = useProblemText()
  const abort = shallowRef(new AbortController())
  const hasImage = computed(() => card().body?.media_type.startsWith('image/') ?? false)

  async function load(): Promise<void> {
    const { body } = card()
    if (!body || isLoading.value || text.value !== null || url.value) return
    isLoading.value = true
    problem.value = ''
    try {
      const response = await callRaw('GET', `/sessions/${sessionId()}/events/${body.seq}/body`, {
        signal: abort.value.signal,
      })
      const bytes = await readAtMost(response, LARGEST_BYTES)
      if (bytes === null) throw new ApiError(413, 'body_too_large', '')
      if (hasImage.value) url.value = await pictureUrl(bytes, '')
      // Made after the view was left, nobody else would let it go.
      if (abort.value.signal.aborted) release()
      else if (url.value === null) text.value = await bytes.text()
    } catch (error) {
      if (!abort.value.signal.aborted) problem.value = problemText(error)
    } finally {
      isLoading.value = false
    }
  }
  function release(): void {
    if (url.value) URL.revokeObjectURL(url.value)
    url.value = null
  }
  onScopeDispose(() => {
    abort.value.abort()
    release()
  })
  return { text, url, problem, isLoading, hasImage, load }
}
