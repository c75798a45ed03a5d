import { defineStore } from 'pinia'
import { computed } from 'vue'
import { call } from '@/api/client'
import type { ModelInfo } from '@/api/types'
import { offered } from './offered'

/** Models on offer. */
export const useModels = defineStore('models', () => {
  const { list, hasAnswered, isKnown, load, retry } = offered(async () => {
    const answer = await call<ModelInfo[] | { items: ModelInfo[] }>('GET', '/models')
    return Array.isArray(answer) ? answer : answer.items
  })
  const standard = computed(() => list.value.find((model) => model.is_default) ?? list.value[0] ?? null)

  function find(id: string | null | undefined): ModelInfo | null {
    return id ? (list.value.find((model) => model.id === id) ?? null) : standard.value
  }
  const isDemoOnly = computed(() => list.value.length > 0 && list.value.every((model) => model.is_demo))

  return { list, hasAnswered, isKnown, standard, isDemoOnly, load, retry, find }
})
