// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Session } from '@/api/types'
import { useConversation } from '@/features/chat'
import { useSessions } from '@/features/sessions'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import PlaceChip from './PlaceChip.vue'

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show(target: string | null) {
  const server = startFakeServer({
    'GET /targets': () =>
      json({
        items: [
          { id: 'host_1', name: 'Build' },
          { id: 'sandbox_1', name: 'Big' },
        ],
      }),
  })
  const at = '2026-01-01T00:00:00Z'
  useSessions().keep({ id: 's', target_id: target, updated_at: at, active_at: at, last_seq: 0 } as Session)
  useConversation().sessionId = 's'
  render(PlaceChip, { global: { plugins: [i18n] } })
  return server
}

it('names the computer of the conversation, and says that it has no desktop', async () => {
  show('host_1')
  expect((await screen.findByTitle(/no desktop/)).textContent).toContain('Build')
})
it('says where that computer was deleted', async () => {
  show('host_2')
  expect(await screen.findByText('deleted computer')).toBeTruthy()
})
it('names a sandbox of another size without a word of desktops, and nothing once its choice was deleted', async () => {
  show('sandbox_1')
  expect((await screen.findByTitle('Works on Big')).textContent).toContain('Big')
  cleanup()
  setActivePinia(createPinia())
  const server = show('sandbox_2')
  await vi.waitFor(() => expect(server.calls).toHaveLength(1))
  expect(document.querySelector('[title]')).toBeNull()
})
it('asks for nothing and shows nothing on the usual one', () => {
  const server = show(null)
  expect(document.querySelector('[title]')).toBeNull()
  expect(server.calls).toEqual([])
})
