import { computed, ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import type { Snapshot, SnapshotList } from '@/api/types'

/** The kept states of a session's files. `busy` names the one that is worked at, or `new`. */
export function useSnapshots(sessionId: () => string) {
  const items = shallowRef<readonly Snapshot[] | null>(null)
  const maxCount = ref(0)
  const busy = ref<string | null>(null)
  const problem = shallowRef<unknown>(null)
  const restored = shallowRef<Snapshot | null>(null)
  const isFull = computed(() => items.value !== null && items.value.length >= maxCount.value)
  const path = (rest = ''): string => `/sessions/${sessionId()}/snapshots${rest}`

  async function load(): Promise<void> {
    const id = sessionId()
    const list = await call<SnapshotList>('GET', path())
    if (id !== sessionId()) return
    items.value = list.items
    maxCount.value = list.max_count
  }
  async function work(what: string, act: () => Promise<unknown>): Promise<boolean> {
    busy.value = what
    problem.value = null
    restored.value = null
    try {
      await act()
      await load()
      return true
    } catch (error) {
      problem.value = error
      return false
    } finally {
      busy.value = null
    }
  }

  return {
    items,
    busy,
    problem,
    restored,
    isFull,
    open: () => work('list', () => Promise.resolve()),
    take: (name: string) => work('new', () => call('POST', path(), { body: { name } })),
    remove: (one: Snapshot) => work(one.id, () => call('DELETE', path(`/${one.id}`))),
    restore: (one: Snapshot) =>
      work(one.id, async () => {
        await call('POST', path(`/${one.id}/restore`))
        restored.value = one
      }),
  }
}
