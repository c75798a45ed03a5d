// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import { touch } from '@/shared/testing/touch'
import RailDrawer from './RailDrawer.vue'

afterEach(cleanup)

it('takes the focus itself where a finger pulls it out', async () => {
  const query = { matches: false, addEventListener: vi.fn(), removeEventListener: vi.fn() }
  vi.stubGlobal('matchMedia', () => query)
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/:a*', component: {} }] })
  const page = document.body.appendChild(document.createElement('main'))
  const props = { open: false, page, rail: { who: 'Anna' } }
  const { rerender, emitted } = render(RailDrawer, { props, global: { plugins: [i18n, router, createPinia()] } })
  const finger = touch(page)
  finger.down(20, 300)
  finger.move(120, 300)
  expect(emitted()['update:open']).toEqual([[true]])
  await rerender({ open: true })
  const dialog = await screen.findByRole('dialog')
  await vi.waitFor(() => expect(document.activeElement).toBe(dialog))
  page.remove()
})
