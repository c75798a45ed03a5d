import { computed, shallowRef, watch, type ComputedRef, type ShallowRef } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import { useProblemText } from '@/api/useProblemText'

/**
 * One answer at a time to what the agent waits for, below `path` of the session; what went wrong is said. It is the
 * stream that tells what became of it, here and wherever else it is shown. Once nothing is open, all that is still said
 * is that an answer came too late (409).
 */
export function useDecision(
  path: () => string,
  isOpen: () => boolean,
): {
  isSending: ShallowRef<boolean>
  problem: ComputedRef<string>
  /** True where the server took it. What has to be done `first` is: where that fails nothing is decided. */
  decide: (body: object, first?: () => Promise<void>) => Promise<boolean>
} {
  const problemText = useProblemText()
  const isSending = shallowRef(false)
  const error = shallowRef<unknown>(null)

  watch(isOpen, (open) => {
    if (!open && !(error.value instanceof ApiError && error.value.status === 409)) error.value = null
  })

  async function decide(body: object, first?: () => Promise<void>): Promise<boolean> {
    if (isSending.value) return false
    isSending.value = true
    error.value = null
    try {
      await first?.()
      await call('POST', `/sessions/${path()}`, { body })
      return true
    } catch (refused) {
      error.value = refused
      return false
    } finally {
      isSending.value = false
    }
  }
  return { isSending, problem: computed(() => (error.value ? problemText(error.value) : '')), decide }
}
