import { computed, type ComputedRef } from 'vue'
import { useConversation } from './conversation'
import { allCalls } from './subagents'
import type { ToolItem } from './transcript'

/** All calls of the conversation on screen, as far as it is loaded; the same as long as nothing stored is new. */
export function useCalls(): ComputedRef<readonly ToolItem[]> {
  const conversation = useConversation()
  const items = computed(() => conversation.transcript.items)
  return computed(() => allCalls(items.value))
}
