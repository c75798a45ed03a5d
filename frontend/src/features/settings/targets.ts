import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import type { ChangeTargetBody, CreateTargetBody, SandboxChoices, Target, TargetList, TargetTrial } from '@/api/types'
import { useListWork } from './listWork'
import { offered } from './offered'

/** The id of a computer says what it is, also once it is deleted. */
export const isRemoteHost = (id: string | null | undefined): boolean => id?.startsWith('host_') ?? false

const read = (signal?: AbortSignal): Promise<TargetList> => call<TargetList>('GET', '/targets', signal && { signal })

/** The computers that a conversation may be begun on, beside the usual one. */
export const useTargets = defineStore('targets', () => {
  const { list, isKnown, load, retry } = offered(async () => (await read()).items)
  /** A host is worked on once its key was confirmed. */
  const usable = computed(() => list.value.filter((one) => one.kind === 'sandbox' || one.host_key !== null))
  const find = (id: string | null | undefined): Target | null => list.value.find((one) => one.id === id) ?? null
  /** Loads them once, and again where the last answer did not come. */
  const need = (): Promise<void> => (isKnown.value ? retry() : load())
  return { list, isKnown, usable, find, need }
})

/** In a few words what a computer is. */
export const describeTarget = (target: Target): string =>
  target.kind === 'ssh'
    ? `${target.username}@${target.host}`
    : [target.image, target.size].filter((one) => one !== null).join(' · ')

/** The list on the page of the settings, and what is done about one of them. */
export function useTargetList() {
  const known = useTargets()
  const rules = shallowRef<Pick<TargetList, 'ssh' | 'can_use_agent'> | null>(null)
  /** What sandboxes may be made of; null: not known yet, false: the server can't tell now. */
  const choices = shallowRef<SandboxChoices | false | null>(null)
  const loadChoices = async (): Promise<void> => {
    choices.value = await call<SandboxChoices>('GET', '/targets/choices').catch(() => false as const)
  }
  /** What the last test of each found, by its id. */
  const trials = ref<Record<string, TargetTrial>>({})
  const { changing, ...work } = useListWork<Target, 'save' | 'delete' | 'test' | 'confirm'>(async (signal) => {
    const { items, ...said } = await read(signal)
    rules.value = said
    known.list = items
    return items
  })
  const path = (id: string): string => `/targets/${encodeURIComponent(id)}`
  const create = (body: CreateTargetBody): Promise<boolean> =>
    changing('save', '', () => call<Target>('POST', '/targets', { body }))
  const change = (id: string, body: ChangeTargetBody): Promise<boolean> =>
    changing('save', id, () => call<Target>('PATCH', path(id), { body }))
  const remove = (id: string): Promise<boolean> => changing('delete', id, () => call('DELETE', path(id)))
  const tried = async (id: string): Promise<void> => {
    const trial = await call<TargetTrial>('POST', `${path(id)}/test`)
    trials.value = { ...trials.value, [id]: trial }
  }
  const test = (id: string): Promise<boolean> => changing('test', id, () => tried(id))
  /** The person compared the fingerprint; whether all works then is tried at once. */
  const confirm = (id: string, fingerprint: string): Promise<boolean> =>
    changing('confirm', id, async () => {
      await call<Target>('PATCH', path(id), { body: { confirmed_fingerprint: fingerprint } })
      await tried(id)
    })
  return { ...work, rules, choices, loadChoices, trials, create, change, remove, test, confirm }
}
