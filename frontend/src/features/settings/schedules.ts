import { onScopeDispose, ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import type { CreateScheduleBody, Schedule, UpdateScheduleBody } from '@/api/types'
import { useProblemText } from '@/api/useProblemText'

type Doing = 'save' | 'delete' | 'run'

/** One's own schedules, and what is done about them. */
export function useSchedules() {
  const list = shallowRef<Schedule[] | null>(null)
  const doing = ref<Doing | null>(null)
  const problem = ref('')
  /** What the problem is about, and what is done about: an id, or '' for the page. */
  const about = ref('')
  const problemText = useProblemText()
  const ending = new AbortController()
  onScopeDispose(() => ending.abort())

  const fetched = async (): Promise<void> => {
    const { items } = await call<{ items: Schedule[] }>('GET', '/schedules', { signal: ending.signal })
    list.value = items
  }
  async function attempt(id: string, work: () => Promise<unknown>): Promise<boolean> {
    problem.value = ''
    about.value = id
    try {
      await work()
      return true
    } catch (error) {
      if (!ending.signal.aborted) problem.value = problemText(error)
      return false
    }
  }
  async function during(what: Doing, id: string, work: () => Promise<unknown>): Promise<boolean> {
    if (doing.value) return false
    doing.value = what
    try {
      return await attempt(id, async () => {
        await work()
        await fetched()
      })
    } finally {
      doing.value = null
    }
  }
  const load = (): Promise<boolean> => attempt('', fetched)
  /** Something happened: a fault of this look is not told, as nobody asked for it. */
  const refresh = (): void => {
    if (list.value && !doing.value) void fetched().catch(() => undefined)
  }
  const create = (body: CreateScheduleBody): Promise<boolean> =>
    during('save', '', () => call<Schedule>('POST', '/schedules', { body }))
  const change = (id: string, body: UpdateScheduleBody): Promise<boolean> =>
    during('save', id, () => call<Schedule>('PATCH', `/schedules/${id}`, { body }))
  const remove = (id: string): Promise<boolean> => during('delete', id, () => call('DELETE', `/schedules/${id}`))
  const run = (id: string): Promise<boolean> => during('run', id, () => call<Schedule>('POST', `/schedules/${id}/run`))
  return { list, doing, problem, about, load, refresh, create, change, remove, run }
}
