export { withModelCall, type ModelCall } from './modelCalls'
export { default as ModelCallsPanel } from './ModelCallsPanel.vue'
