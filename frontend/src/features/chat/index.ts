import { lazyPart } from '@/shared/ui/lazyPart'

export { agentsOf, callsOfRun } from './agents'
export { beginWith } from './beginWith'
export { default as ChatView } from './ChatView.vue'
export { useConversation } from './conversation'
export { allCalls } from './subagents'
export const AgentsPanel = lazyPart(() => import('./AgentsPanel.vue'))
