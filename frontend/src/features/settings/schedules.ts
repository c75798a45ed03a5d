import { call } from '@/api/client'
import type { CreateScheduleBody, Schedule, UpdateScheduleBody } from '@/api/types'
import { useListWork } from './listWork'

/** One's own schedules, and what is done about them. */
export function useSchedules() {
  const { changing, ...work } = useListWork<Schedule, 'save' | 'delete' | 'run'>(
    async (signal) => (await call<{ items: Schedule[] }>('GET', '/schedules', { signal })).items,
  )
  const create = (body: CreateScheduleBody): Promise<boolean> =>
    changing('save', '', () => call<Schedule>('POST', '/schedules', { body }))
  const change = (id: string, body: UpdateScheduleBody): Promise<boolean> =>
    changing('save', id, () => call<Schedule>('PATCH', `/schedules/${id}`, { body }))
  const remove = (id: string): Promise<boolean> => changing('delete', id, () => call('DELETE', `/schedules/${id}`))
  const run = (id: string): Promise<boolean> =>
    changing('run', id, () => call<Schedule>('POST', `/schedules/${id}/run`))
  return { ...work, create, change, remove, run }
}
