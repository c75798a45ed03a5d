import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { call } from '@/api/client'
import type { ModelInfo } from '@/api/types'

/** Models on offer. */
export const useModels = defineStore('models', () => {
  const list = ref<ModelInfo[]>([])
  const hasAnswered = ref(false)
  const hasFailed = ref(false)
  /** Whether it was asked for, also in vain: until then nothing is to be said of what is on offer. */
  const isKnown = computed(() => hasAnswered.value || list.value.length > 0)

  /** What was known stays where the server can't say. */
  async function load(): Promise<void> {
    try {
      const answer = await call<ModelInfo[] | { items: ModelInfo[] }>('GET', '/models')
      list.value = Array.isArray(answer) ? answer : answer.items
      hasFailed.value = false
    } catch {
      hasFailed.value = true
    }
    hasAnswered.value = true
  }
  /** Asks again where the last answer did not come. */
  async function retry(): Promise<void> {
    if (hasFailed.value) await load()
  }
  const standard = computed(() => list.value.find((model) => model.is_default) ?? list.value[0] ?? null)

  function find(id: string | null | undefined): ModelInfo | null {
    return id ? (list.value.find((model) => model.id === id) ?? null) : standard.value
  }
  const isDemoOnly = computed(() => list.value.length > 0 && list.value.every((model) => model.is_demo))

  return { list, hasAnswered, isKnown, standard, isDemoOnly, load, retry, find }
})
