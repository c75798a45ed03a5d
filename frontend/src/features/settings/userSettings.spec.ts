import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { SettingBody } from '@/api/types'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { later } from '@/shared/testing/later'
import { useUserSettings } from './userSettings'

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => vi.unstubAllGlobals())

const turns = (value: number) =>
  ({ category: 'agent', key: 'max_turns', value: value as unknown, source: 'user' }) as SettingBody

it('keeps what was saved also where a look from before comes in late', async () => {
  let stored = turns(7)
  const late = later<undefined>()
  let looks = 0
  const { calls } = startFakeServer({
    'GET /settings': async () => {
      const found = json([stored])
      if ((looks += 1) === 2) await late.promise
      return found
    },
    'PUT /settings/agent/max_turns': ({ body }) => {
      stored = turns((body as { value: number }).value)
      return json(stored)
    },
  })
  const settings = useUserSettings()
  await settings.load()
  const looking = settings.load()
  const seen: unknown[] = []
  settings.$subscribe(() => seen.push(settings.find('agent/max_turns')?.value), { flush: 'sync' })
  await settings.change('agent/max_turns', 9)
  late.resolve(undefined)
  await looking
  expect(seen).not.toContain(7)
  expect(settings.find('agent/max_turns')?.value).toBe(9)
  expect(calls.map(({ method }) => method)).toEqual(['GET', 'GET', 'PUT', 'GET'])
})

it('stores one change after the other, so that what was chosen last holds, also after one that is refused', async () => {
  const first = later<Response>()
  const { calls } = startFakeServer({
    'GET /settings': () => json([turns(5)]),
    'PUT /settings/agent/max_turns': ({ body }) => {
      const { value } = body as { value: number }
      if (value === 0) return problem(422, 'setting_refused')
      return value === 7 ? first.promise : json(turns(value))
    },
  })
  const settings = useUserSettings()
  await settings.load()
  const changes = [7, 0, 9].map((value) => settings.change('agent/max_turns', value).catch(() => 'refused'))
  await vi.waitFor(() => expect(calls).toHaveLength(2))
  first.resolve(json(turns(7)))
  expect(await Promise.all(changes)).toEqual([undefined, 'refused', undefined])
  expect(settings.find('agent/max_turns')?.value).toBe(9)
})
