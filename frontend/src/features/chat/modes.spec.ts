// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { useSessions } from '@/features/sessions'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { choiceOf, offeredModes } from './modes'
import { useChosen } from './useChosen'

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => vi.unstubAllGlobals())

it('offers the modes whose presets there are', () => {
  expect(offeredModes([])).toEqual(['plan'])
  expect(offeredModes([{ id: 'coding' }, { id: 'research' }, { id: 'writing' }])).toEqual([
    'plan',
    'research',
    'write',
    'code',
  ])
})
it('plans first in one mode alone', () => {
  expect(choiceOf('plan')).toEqual({ preset: null, options: { enable_plan_mode: true } })
  expect(choiceOf('write')).toEqual({ preset: 'writing', options: { enable_plan_mode: null } })
})
it('changes an open conversation in one step', async () => {
  const server = startFakeServer({ 'PATCH /sessions/s': ({ body }) => json({ id: 's', ...(body as object) }) })
  vi.spyOn(useSessions(), 'change')
  await useChosen(() => 's').pickMode('mode:research')
  const changes = server.calls.filter(({ method }) => method === 'PATCH').map(({ body }) => body)
  expect(changes).toEqual([{ preset: 'research', options: { enable_plan_mode: null } }])
})
