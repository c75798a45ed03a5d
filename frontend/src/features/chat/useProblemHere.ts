import { useEventListener } from '@vueuse/core'
import { computed, shallowRef, watch, type ComputedRef, type ShallowRef } from 'vue'
import { useConversation } from './conversation'
import { isForLater } from './outbox'

/** What went wrong last, and in which conversation: it is shown there and in no other. */
export function useProblemHere(sessionId: () => string | null): {
  problem: ShallowRef<{ error: unknown; sessionId: string | null } | null>
  shownProblem: ComputedRef<unknown>
} {
  const conversation = useConversation()
  const problem = shallowRef<{ error: unknown; sessionId: string | null } | null>(null)
  const shownProblem = computed(() => (problem.value?.sessionId === sessionId() ? problem.value.error : null))
  /** The server is there again: that it was not is over. */
  function forgetAbsence(): void {
    if (isForLater(problem.value?.error)) problem.value = null
  }
  useEventListener(window, 'online', forgetAbsence)
  watch(
    () => conversation.streamState === 'open',
    (isOpen) => isOpen && forgetAbsence(),
  )
  return { problem, shownProblem }
}
