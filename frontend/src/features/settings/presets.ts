import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { call } from '@/api/client'
import type { PresetInfo, PresetText } from '@/api/types'

/** Presets on offer. */
export const usePresets = defineStore('presets', () => {
  const list = ref<PresetInfo[]>([])
  const hasAnswered = ref(false)
  /** Whether it was asked for, also in vain: until then nothing is to be said of what is on offer. */
  const isKnown = computed(() => hasAnswered.value || list.value.length > 0)

  async function load(): Promise<void> {
    list.value = await call<PresetInfo[]>('GET', '/presets').catch(() => [])
    hasAnswered.value = true
  }
  const standard = computed(() => list.value.find((preset) => preset.is_default) ?? null)

  /** The one of that name, else the one that a conversation has then; null while none is known. */
  function find(id: string | null | undefined): PresetInfo | null {
    return list.value.find((preset) => preset.id === id) ?? standard.value
  }
  /** Whether the agent of a conversation with this one has a computer. */
  function hasComputer(id: string | null | undefined): boolean {
    return find(id)?.has_computer ?? true
  }

  return { list, hasAnswered, isKnown, standard, load, find, hasComputer }
})

/** What a person reads of a preset, in the language of the page as far as it is written in that. */
export function presetText(preset: PresetInfo, language: string): PresetText {
  const translated = preset.translations[language]
  if (!translated) return preset
  return translated.suggestions.length > 0 ? translated : { ...translated, suggestions: preset.suggestions }
}
