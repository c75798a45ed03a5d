import { computed } from 'vue'
import { allCalls, callsOfRun, useConversation } from '@/features/chat'
import { usedScreen } from '@/features/computer'

/** The calls of the conversation: those of the agent the person talks to, and with those of others all of them. */
export function useCalls() {
  const conversation = useConversation()
  const own = computed(() => conversation.transcript.items.filter((item) => item.kind === 'tool'))
  const cards = computed(() => allCalls(conversation.transcript.items))
  /** The run at work has used the screen of the computer. */
  const usesScreen = computed(
    () => conversation.isRunning && usedScreen(allCalls(callsOfRun(conversation.transcript.items))),
  )
  return { own, cards, usesScreen }
}
