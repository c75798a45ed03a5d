import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { call } from '@/api/client'
import type { ListedModels, SearchTrialBody, SearchTrialResult, SettingBody, TrialResult } from '@/api/types'
import { createInAskedOrder } from '@/shared/lib/inAskedOrder'
import { useModels } from './models'
import type { ChosenOptions } from './options'

export type Provider = 'openai' | 'anthropic'
export type SearchProvider = SearchTrialBody['provider']

/** What this person has set, over what the server has. */
export const useUserSettings = defineStore('user-settings', () => {
  const list = ref<SettingBody[]>([])
  const isLoaded = ref(false)

  const show = createInAskedOrder<SettingBody[]>((found) => {
    list.value = found
    isLoaded.value = true
  })
  let changes = 0
  /** What was read before something was changed does not know of that, and is read once more. */
  async function read(): Promise<SettingBody[]> {
    const before = changes
    const found = await call<SettingBody[]>('GET', '/settings')
    return before === changes ? found : await read()
  }
  const load = (): Promise<void> => show(read)
  const find = (name: string): SettingBody | null =>
    list.value.find(({ category, key }) => `${category}/${key}` === name) ?? null
  /** Of one that is true or false. */
  function isOn(name: string): boolean {
    const value: unknown = find(name)?.value
    return value === true
  }
  /** What this person chose of how the agent works, where neither a preset nor the conversation says otherwise. */
  const options = computed<ChosenOptions>(() => {
    const own = list.value.filter(
      ({ category, source }) => source === 'user' && (category === 'agent' || category === 'approvals'),
    )
    return Object.fromEntries(own.map(({ key, value }) => [key, value])) as ChosenOptions
  })

  let last: Promise<unknown> = Promise.resolve()
  /**
   * null takes it back. What follows of it, such as which models there are, is read anew. One after the other: of two
   * for the same setting the one that was chosen last holds.
   */
  function change(name: string, value: unknown): Promise<void> {
    const done = last.then(() => store(name, value))
    last = done.catch(() => undefined)
    return done
  }
  async function store(name: string, value: unknown): Promise<void> {
    const path = `/settings/${name}`
    const changed =
      value === null
        ? await call<SettingBody>('DELETE', path)
        : await call<SettingBody>('PUT', path, { body: { value } })
    changes += 1
    list.value = list.value.map((one) => (one.category === changed.category && one.key === changed.key ? changed : one))
    if (changed.category === 'models') await Promise.all([load(), useModels().load()])
  }
  async function tryKey(body: {
    provider: Provider
    key?: string
    base_url?: string
    model?: string
  }): Promise<TrialResult> {
    return await call<TrialResult>('POST', '/settings/models/test', { body })
  }
  /** The models that a key opens, as its provider lists them. */
  async function listModels(body: { provider: Provider; key?: string; base_url?: string }): Promise<ListedModels> {
    return await call<ListedModels>('POST', '/settings/models/available', { body })
  }
  /** By one small search; without a key the saved one. */
  async function trySearchKey(provider: SearchProvider, key: string): Promise<SearchTrialResult> {
    const body: SearchTrialBody = key ? { provider, key } : { provider }
    return await call<SearchTrialResult>('POST', '/settings/search/test', { body })
  }
  /** Asks a source of papers once; without a key with the saved one. */
  async function tryPaperKey(source: string, key: string): Promise<SearchTrialResult> {
    return await call<SearchTrialResult>('POST', `/corpus/sources/${source}/test`, { body: key ? { key } : {} })
  }
  return { list, isLoaded, options, load, find, isOn, change, tryKey, listModels, trySearchKey, tryPaperKey }
})
