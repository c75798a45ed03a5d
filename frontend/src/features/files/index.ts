export { default as FilesPanel } from './FilesPanel.vue'
