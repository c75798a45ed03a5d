import { computed, onScopeDispose, ref, shallowRef } from 'vue'
import { pictureUrl } from '@/shared/lib/shownContent'
import { useProblemText } from '@/api/useProblemText'
import { readBody } from './bodies'
import type { ToolCard } from './card'

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
      const bytes = await readBody(sessionId(), body.seq, abort.value.signal)
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
