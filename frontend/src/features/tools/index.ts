export type { ToolCard } from './body/card'
export { default as ToolCardView } from './ToolCardView.vue'
export { useToolAbout } from './useToolAbout'
export { givenTask, useToolPhrase } from './useToolPhrase'
