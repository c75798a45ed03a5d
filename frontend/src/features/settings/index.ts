export { useModels } from './models'
export { default as SettingsDialog } from './SettingsDialog.vue'
