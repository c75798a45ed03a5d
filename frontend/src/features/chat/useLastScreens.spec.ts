// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { useSessions } from '@/features/sessions'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { routerAt } from '@/shared/testing/routerAt'
import LastScreens from './LastScreens.vue'

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

it('shows the last picture of each conversation that has one, as the way there', async () => {
  const pinia = createPinia()
  setActivePinia(pinia)
  const session = (id: string) => ({ id, title: `About ${id}`, active_at: '2026-01-01T00:00:00Z', last_seq: 1 })
  const body = (type: string) => ({ type: 'tool.finished', body: { media_type: type } })
  startFakeServer({
    'GET /sessions': () => json({ items: [session('a'), session('b')], next_cursor: null }),
    'GET /sessions/a/events': () => json({ items: [{ seq: 3, ...body('text/plain') }] }),
    'GET /sessions/b/events': () =>
      json({
        items: [
          { seq: 4, ...body('image/png') },
          { seq: 5, type: 'notice' },
        ],
      }),
    'GET /sessions/b/events/4/body': () => new Response(PNG),
  })
  await useSessions().load()
  render(LastScreens, { global: { plugins: [i18n, pinia, await routerAt('/')] } })
  expect((await screen.findByRole('link', { name: 'About b' })).getAttribute('href')).toBe('/s/b')
  expect(screen.getAllByRole('link')).toHaveLength(1)
})
