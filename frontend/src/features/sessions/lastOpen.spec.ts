// @vitest-environment happy-dom
import { afterEach, expect, it } from 'vitest'
import { keepOpen, lastOpen } from './lastOpen'

afterEach(() => sessionStorage.clear())

it('leads back to the conversation that was open before other pages, until a new one begins', () => {
  expect(lastOpen()).toBe('/')
  for (const path of ['/s/one', '/s/two', '/writing/prj_1', '/corpus']) keepOpen(path)
  expect(lastOpen()).toBe('/s/two')
  keepOpen('/')
  expect(lastOpen()).toBe('/')
})
