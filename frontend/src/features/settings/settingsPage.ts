import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { pages, type SettingsPageId } from './pages'

/** Which page of the settings is open, if any. */
export const useSettingsPage = defineStore('settings-page', () => {
  const shown = ref<SettingsPageId | null>(null)
  const last = ref<SettingsPageId>(pages[0].id)
  const isOpen = computed({
    get: () => shown.value !== null,
    set: (open) => (open ? show() : (shown.value = null)),
  })

  /** That page, or the one that was seen last. */
  function show(id: SettingsPageId = last.value): void {
    shown.value = last.value = id
  }
  return { shown, isOpen, show }
})
