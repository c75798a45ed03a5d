export { default as ComputerPanel } from './ComputerPanel.vue'
export { usePanel } from './panel'
export { default as PanelHandle } from './PanelHandle.vue'
