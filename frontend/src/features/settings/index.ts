import { lazyPart } from '@/shared/ui/lazyPart'

export { enterMeans } from './enterMeaning'
export { useModels } from './models'
export { offeredPages, settingsPageNamed } from './pages'
export { showNotification } from './notifications'
export { default as OnOffRow } from './OnOffRow.vue'
export {
  defaultsOf,
  layered,
  presetOptions,
  switched,
  takenBackFor,
  thinkingChange,
  thinkingChoice,
  thinkingChoices,
  type ChosenOptions,
} from './options'
export { default as RulesRow } from './RulesRow.vue'
export { presetText, usePresets } from './presets'
export { default as SettingsDialog } from './SettingsDialog.vue'
export { useSettingsPage } from './settingsPage'
export { describeTarget, isRemoteHost, useTargets } from './targets'
export { default as ThinkingRow } from './ThinkingRow.vue'
export { commandRule, countRules, isNamed } from './toolRules'
export { default as TurnsRow } from './TurnsRow.vue'
export { useUserSettings } from './userSettings'

export const ToolRules = lazyPart(() => import('./ToolRules.vue'))
