import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { call } from '@/api/client'
import type { ModelInfo } from '@/api/types'

/** Models on offer. */
export const useModels = defineStore('models', () => {
  const list = ref<ModelInfo[]>([])

  async function load(): Promise<void> {
    const answer = await call<ModelInfo[] | { items: ModelInfo[] }>('GET', '/models').catch(() => [])
    list.value = Array.isArray(answer) ? answer : answer.items
  }
  const standard = computed(() => list.value.find((model) => model.is_default) ?? list.value[0] ?? null)

  function find(id: string | null | undefined): ModelInfo | null {
    return id ? (list.value.find((model) => model.id === id) ?? null) : standard.value
  }
  const isDemoOnly = computed(() => list.value.length > 0 && list.value.every((model) => model.is_demo))

  return { list, standard, isDemoOnly, load, find }
})
