// @vitest-environment happy-dom
import { flushPromises, mount } from '@vue/test-utils'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { enterMeans } from './enterMeaning'
import { useAppearance } from './useAppearance'

afterEach(() => {
  vi.unstubAllGlobals()
  enterMeans.value = 'interrupts'
})

it.each(['waits', 'queues'] as const)('that Enter %s follows the person, and is told to the server', async (taken) => {
  const own = { category: 'appearance', key: 'enter', source: 'user', value: taken }
  const { calls } = startFakeServer({
    'GET /settings': () => json([own]),
    'PUT /settings/appearance/enter': () => json({ ...own, value: 'interrupts' }),
  })
  const pinia = createPinia()
  setActivePinia(pinia)
  const page = defineComponent({ setup: () => (useAppearance(), () => h('p')) })
  const mounted = mount(page, { global: { plugins: [i18n, pinia] } })
  await flushPromises()
  expect(enterMeans.value).toBe(taken)
  enterMeans.value = 'interrupts'
  await flushPromises()
  expect(calls.filter(({ method }) => method === 'PUT')).toMatchObject([{ body: { value: 'interrupts' } }])
  mounted.unmount()
})
