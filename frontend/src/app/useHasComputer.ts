import { computed, watch } from 'vue'
import { useConversation } from '@/features/chat'
import { hadComputer, knowComputer } from '@/features/computer'
import { useSessions } from '@/features/sessions'

/** Whether the conversation has a computer; until it is open, whether it had one when it was last here, or as it is listed. */
export function useHasComputer(sessionId: () => string | null) {
  const conversation = useConversation()
  const sessions = useSessions()
  const has = computed(() => {
    const id = sessionId()
    if (id !== null && conversation.phase === 'loading')
      return hadComputer(id) || (sessions.byId.get(id)?.sandbox ?? 'none') !== 'none'
    return conversation.transcript.computer.status !== 'none'
  })
  watch(
    () => (conversation.phase === 'ready' ? ([conversation.sessionId, has.value] as const) : null),
    (known) => known?.[0] && knowComputer(known[0], known[1]),
  )
  return has
}
