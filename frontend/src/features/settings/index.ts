export { default as ChoiceRow } from './ChoiceRow.vue'
export { useModels } from './models'
export { default as SettingsDialog } from './SettingsDialog.vue'
