import { computed } from 'vue'
import { allCalls, callsOfRun, useConversation } from '@/features/chat'
import { usedScreen } from '@/features/computer'

/** The calls of the conversation as far as it is loaded: those of the agent the person talks to, and with those of
 * others all of them; the same as long as nothing stored is new. */
export function useCalls() {
  const conversation = useConversation()
  const items = computed(() => conversation.transcript.items)
  const own = computed(() => items.value.filter((item) => item.kind === 'tool'))
  const cards = computed(() => allCalls(items.value))
  /** The run at work has used the screen of the computer. */
  const usesScreen = computed(() => conversation.isRunning && usedScreen(allCalls(callsOfRun(items.value))))
  return { own, cards, usesScreen }
}
