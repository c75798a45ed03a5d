export { default as ChatView } from './ChatView.vue'
export { useConversation } from './conversation'
export { useCalls } from './useCalls'
