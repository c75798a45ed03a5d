export type { ToolCard } from './body/card'
export { default as ToolCardView } from './ToolCardView.vue'
export { useToolPhrase } from './useToolPhrase'
