import { computed, watch } from 'vue'
import { agentsOf, allCalls, useConversation } from '@/features/chat'
import { hasKept, hasPapers, recallPapers } from '@/features/research'
import { useSessions } from '@/features/sessions'
import { hasWritten } from '@/features/writing'

/** What decides which panels of the computer there are. */
export function useOffering(sessionId: () => string | null) {
  const conversation = useConversation()
  const sessions = useSessions()
  watch(
    () => (conversation.phase === 'ready' ? sessionId() : null),
    (id) => id !== null && recallPapers(id),
    { immediate: true },
  )
  return computed(() => {
    const { computer, modelCalls, background, items } = conversation.transcript
    const options = sessions.byId.get(sessionId() ?? '')?.options
    const hasModelCalls = modelCalls.length > 0 || options?.['enable_tracing'] === true
    const calls = allCalls(items)
    const written = calls.filter(hasWritten).length
    const keptPapers = calls.filter(hasKept).length
    const isWithPapers = keptPapers > 0 || hasPapers(sessionId())
    return { computer, background, agents: agentsOf(items), hasModelCalls, written, keptPapers, isWithPapers }
  })
}
