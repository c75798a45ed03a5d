import { computed } from 'vue'
import { agentsOf, useConversation } from '@/features/chat'
import { hasKept } from '@/features/research'
import { useSessions } from '@/features/sessions'
import { hasWritten } from '@/features/writing'

/** What decides which panels of the computer there are. */
export function useOffering(sessionId: () => string | null) {
  const conversation = useConversation()
  const sessions = useSessions()
  return computed(() => {
    const { computer, modelCalls, background, items } = conversation.transcript
    const options = sessions.byId.get(sessionId() ?? '')?.options
    const hasModelCalls = modelCalls.length > 0 || options?.['enable_tracing'] === true
    const written = items.filter((item) => item.kind === 'tool' && hasWritten(item)).length
    const kept = items.filter((item) => item.kind === 'tool' && hasKept(item)).length
    return { computer, background, agents: agentsOf(items), hasModelCalls, written, kept }
  })
}
