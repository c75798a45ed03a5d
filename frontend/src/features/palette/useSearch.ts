import { onScopeDispose, ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import type { FoundMessage, FoundPage } from '@/api/types'

const AGAIN_MS = 1_500

/** What the server finds in own titles and messages; while it still indexes old ones it is asked again. */
export function useSearch() {
  const found = shallowRef<readonly FoundMessage[]>([])
  const isComplete = ref(true)
  const isLooking = ref(false)
  const problem = shallowRef<unknown>(null)
  let abort: AbortController | null = null
  let timer: ReturnType<typeof setTimeout> | undefined

  function clear(): void {
    abort?.abort()
    clearTimeout(timer)
    found.value = []
    isComplete.value = true
    isLooking.value = false
    problem.value = null
  }
  async function look(text: string): Promise<void> {
    abort?.abort()
    clearTimeout(timer)
    const mine = (abort = new AbortController())
    isLooking.value = true
    try {
      const page = await call<FoundPage>('GET', '/search', { query: { q: text, limit: 20 }, signal: mine.signal })
      found.value = page.items
      isComplete.value = page.is_complete
      problem.value = null
      if (!page.is_complete) timer = setTimeout(() => void look(text), AGAIN_MS)
    } catch (error) {
      if (mine.signal.aborted) return
      found.value = []
      problem.value = error
    } finally {
      if (mine === abort) isLooking.value = false
    }
  }
  onScopeDispose(clear)
  return { found, isComplete, isLooking, problem, look, clear }
}
