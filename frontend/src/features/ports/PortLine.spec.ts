// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h, ref } from 'vue'
import type { OpenPort } from '@/api/types'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import PortLine from './PortLine.vue'
import { provideOpenPorts } from './providedPorts'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

it('leads to what a call opened as long as that is open', async () => {
  startFakeServer({
    'POST /sessions/s/ports/port_1/address': () => json({ url: 'https://app.example.org/', expires_at: '' }),
  })
  const tab = { opener: window, close: vi.fn(), location: { replace: vi.fn() } }
  vi.stubGlobal('open', () => tab)
  const ports = ref<OpenPort[]>([
    { id: 'port_1', port: 3000, label: 'Shop', opened_at: '2026-01-01T00:00:00Z', opened_by: 'agent' },
  ])
  const Conversation = defineComponent(() => {
    provideOpenPorts(() => ports.value)
    return () => h(PortLine, { sessionId: 's', number: 3000 })
  })
  render(Conversation, { global: { plugins: [i18n] } })
  await userEvent.click(screen.getByRole('button', { name: 'Open Shop in a new tab' }))
  await vi.waitFor(() => expect(tab.location.replace).toHaveBeenCalledWith('https://app.example.org/'))
  ports.value = []
  expect(await screen.findByText('Port 3000 is not open any more.')).toBeTruthy()
  expect(screen.queryByRole('button')).toBeNull()
})
