import { defineStore } from 'pinia'
import { computed } from 'vue'
import { call } from '@/api/client'
import type { PresetInfo, PresetText } from '@/api/types'
import { offered } from './offered'

/** Presets on offer. */
export const usePresets = defineStore('presets', () => {
  const { list, hasAnswered, isKnown, load, retry } = offered(() => call<PresetInfo[]>('GET', '/presets'))
  const standard = computed(() => list.value.find((preset) => preset.is_default) ?? null)

  /** The one of that name, else the one that a conversation has then; null while none is known. */
  function find(id: string | null | undefined): PresetInfo | null {
    return list.value.find((preset) => preset.id === id) ?? standard.value
  }
  /** Whether the agent of a conversation with this one has a computer. */
  function hasComputer(id: string | null | undefined): boolean {
    return find(id)?.has_computer ?? true
  }

  return { list, hasAnswered, isKnown, standard, load, retry, find, hasComputer }
})

/** What a person reads of a preset, in the language of the page as far as it is written in that. */
export function presetText(preset: PresetInfo, language: string): PresetText {
  const translated = preset.translations[language]
  if (!translated) return preset
  return translated.suggestions.length > 0 ? translated : { ...translated, suggestions: preset.suggestions }
}
