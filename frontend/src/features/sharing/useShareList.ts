import { onScopeDispose, ref, shallowRef } from 'vue'
import type { Share } from '@/api/types'
import { useProblemText } from '@/api/useProblemText'
import { readShares, revokeShare } from './useShares'

/** The links to one conversation, or all of them for null. */
export function useShareList(sessionId: () => string | null) {
  const list = shallowRef<Share[] | null>(null)
  const problem = ref('')
  /** The link that the problem is about, or that is being revoked; '' for the list. */
  const about = ref('')
  const isBusy = ref(false)
  const problemText = useProblemText()
  const ending = new AbortController()
  onScopeDispose(() => ending.abort())

  async function load(): Promise<void> {
    problem.value = about.value = ''
    try {
      list.value = await readShares(sessionId(), ending.signal)
    } catch (error) {
      if (!ending.signal.aborted) problem.value = problemText(error)
    }
  }
  /** Whether it is revoked. */
  async function revoke(id: string): Promise<boolean> {
    if (isBusy.value) return false
    isBusy.value = true
    problem.value = ''
    about.value = id
    try {
      await revokeShare(id)
      list.value = list.value?.filter((one) => one.id !== id) ?? null
      return true
    } catch (error) {
      problem.value = problemText(error)
      return false
    } finally {
      isBusy.value = false
    }
  }
  void load()
  return { list, problem, about, isBusy, load, revoke }
}
