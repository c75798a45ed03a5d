export { default as ComputerPanel } from './ComputerPanel.vue'
export { usePanel } from './panel'
export { nameOfPanel, panelNamed, shownPanel } from './panels'
export { default as PanelHandle } from './PanelHandle.vue'
