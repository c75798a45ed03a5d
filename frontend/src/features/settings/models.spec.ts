import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { useModels } from './models'

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => vi.unstubAllGlobals())

it('keeps the models it knew where they can not be read anew, and asks again until they are', async () => {
  let offered: string[] | null = ['one']
  const { calls } = startFakeServer({
    'GET /models': () => (offered ? json(offered.map((id) => ({ id }))) : problem(503, 'unavailable')),
  })
  const models = useModels()
  const known = () => models.list.map(({ id }) => id)
  await models.load()
  await models.retry()
  expect(calls).toHaveLength(1)
  offered = null
  await models.load()
  expect(known()).toEqual(['one'])
  offered = ['one', 'two']
  await models.retry()
  expect(known()).toEqual(['one', 'two'])
  await models.retry()
  expect(calls).toHaveLength(3)
})
