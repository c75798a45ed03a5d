import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { later } from '@/shared/testing/later'
import { useModels } from './models'

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => vi.unstubAllGlobals())

it('offers what a key opened also where a look from before comes in late', async () => {
  const late = later<undefined>()
  let looks = 0
  startFakeServer({
    'GET /models': async () => {
      const isFirst = (looks += 1) === 1
      if (isFirst) await late.promise
      return json(isFirst ? [{ id: 'demo' }] : [{ id: 'demo' }, { id: 'own' }])
    },
  })
  const models = useModels()
  const looking = models.load()
  await models.load()
  late.resolve(undefined)
  await looking
  expect(models.list.map(({ id }) => id)).toEqual(['demo', 'own'])
})

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
