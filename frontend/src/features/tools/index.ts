export type { ToolCard } from './card'
export { default as ToolCardView } from './ToolCardView.vue'
export { useToolPhrase } from './useToolPhrase'
