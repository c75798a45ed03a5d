import { onScopeDispose, ref, shallowRef } from 'vue'
import { useProblemText } from '@/api/useProblemText'
import { pictureUrl } from '@/shared/lib/shownContent'
import { readBody } from './bodies'
import type { ToolCard } from './card'

/** The parts of a result's body, all fetched at once: addresses of the pictures by their numbers, and the text. */
export function useBodyParts(sessionId: () => string, card: () => ToolCard) {
  const urls = shallowRef<ReadonlyMap<number, string>>(new Map())
  const text = ref<string | null>(null)
  const problem = ref('')
  const isLoading = ref(false)
  const isLoaded = ref(false)
  const problemText = useProblemText()
  const abort = new AbortController()

  async function load(): Promise<void> {
    const { body } = card()
    if (!body || isLoading.value || isLoaded.value) return
    isLoading.value = true
    problem.value = ''
    try {
      const bytes = await readBody(sessionId(), body.seq, abort.signal)
      const found = new Map<number, string>()
      for (const [index, part] of body.parts.entries()) {
        const content = bytes.slice(part.offset, part.offset + part.size)
        const url = part.media_type.startsWith('image/') ? await pictureUrl(content, '') : null
        if (url !== null) found.set(index, url)
        else if (part.media_type.startsWith('text/')) text.value = await content.text()
      }
      if (body.parts.length === 0) text.value = await bytes.text()
      urls.value = found
      isLoaded.value = true
      // Made after the view was left, nobody else would let them go.
      if (abort.signal.aborted) release()
    } catch (error) {
      if (!abort.signal.aborted) problem.value = problemText(error)
    } finally {
      isLoading.value = false
    }
  }
  function release(): void {
    for (const url of urls.value.values()) URL.revokeObjectURL(url)
    urls.value = new Map()
  }
  onScopeDispose(() => {
    abort.abort()
    release()
  })
  return { urls, text, problem, isLoading, isLoaded, load }
}
