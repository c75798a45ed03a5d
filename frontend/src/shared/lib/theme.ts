import { usePreferredDark } from '@vueuse/core'
import { computed, ref, watchEffect } from 'vue'
import { recall, remember } from './storage'

export const themes = ['system', 'light', 'dark'] as const
export type ThemeChoice = (typeof themes)[number]
const KEY = 'theme'
const kept = recall(KEY)
const choice = ref<ThemeChoice>(kept === 'light' || kept === 'dark' ? kept : 'system')

/** Whether the dark face is shown. */
export const isDark = ref(false)

/** Puts the chosen face on the document and keeps it there while the system's wish changes. */
export function startTheme(): void {
  const prefersDark = usePreferredDark()
  watchEffect(() => {
    const dark = choice.value === 'dark' || (choice.value === 'system' && prefersDark.value)
    isDark.value = dark
    document.documentElement.dataset['theme'] = dark ? 'dark' : 'light'
  })
}

export const themeChoice = computed<ThemeChoice>({
  get: () => choice.value,
  set: (value) => {
    choice.value = value
    remember(KEY, value === 'system' ? null : value)
  },
})
