// @vitest-environment happy-dom
import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { enterCutsIn } from './enterMeaning'
import { useAppearance } from './useAppearance'

afterEach(() => {
  vi.unstubAllGlobals()
  enterCutsIn.value = true
})

it('what Enter means follows the person, and is told to the server', async () => {
  const own = { category: 'appearance', key: 'enter', source: 'user', value: 'waits' }
  const { calls } = startFakeServer({
    'GET /settings': () => json([own]),
    'PUT /settings/appearance/enter': () => json({ ...own, value: 'interrupts' }),
  })
  const pinia = createPinia()
  setActivePinia(pinia)
  const page = defineComponent({ setup: () => (useAppearance(), () => h('p')) })
  mount(page, { global: { plugins: [i18n, pinia] } })
  await flushPromises()
  expect(enterCutsIn.value).toBe(false)
  enterCutsIn.value = true
  await flushPromises()
  expect(calls.filter(({ method }) => method === 'PUT')).toMatchObject([{ body: { value: 'interrupts' } }])
})
