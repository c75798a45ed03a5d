import { computed, ref, watch } from 'vue'
import { useConversation } from '@/features/chat'
import { usePanel } from '@/features/computer'

/**
 * Whether the panel takes room beside a conversation: where there is no computer yet it takes none, unless it was asked
 * for right there, or seen. A computer that does not come after all takes the panel away from nobody.
 */
export function usePanelRoom(sessionId: () => string | null) {
  const conversation = useConversation()
  const panel = usePanel()
  const askedFor = ref<string | null>(null)
  const hasComputer = computed(() => conversation.transcript.computer.status !== 'none')
  const isPanelOpen = computed(() => panel.isOpen && (hasComputer.value || askedFor.value === sessionId()))
  watch(
    // On the way to another conversation the computer is still that of the one before.
    () => (isPanelOpen.value && conversation.sessionId === sessionId() ? sessionId() : null),
    (seen) => seen !== null && (askedFor.value = seen),
  )
  return { askedFor, hasComputer, isPanelOpen }
}
