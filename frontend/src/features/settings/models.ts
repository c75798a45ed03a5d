import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { call } from '@/api/client'
import type { ModelInfo } from '@/api/types'

/** Models on offer. */
export const useModels = defineStore('models', () => {
  const list = ref<ModelInfo[]>([])
  const hasAnswered = ref(false)
  /** Whether it was asked for, also in vain: until then nothing is to be said of what is on offer. */
  const isKnown = computed(() => hasAnswered.value || list.value.length > 0)

  async function load(): Promise<void> {
    const answer = await call<ModelInfo[] | { items: ModelInfo[] }>('GET', '/models').catch(() => [])
    list.value = Array.isArray(answer) ? answer : answer.items
    hasAnswered.value = true
  }
  const standard = computed(() => list.value.find((model) => model.is_default) ?? list.value[0] ?? null)

  function find(id: string | null | undefined): ModelInfo | null {
    return id ? (list.value.find((model) => model.id === id) ?? null) : standard.value
  }
  const isDemoOnly = computed(() => list.value.length > 0 && list.value.every((model) => model.is_demo))

  return { list, hasAnswered, isKnown, standard, isDemoOnly, load, find }
})
