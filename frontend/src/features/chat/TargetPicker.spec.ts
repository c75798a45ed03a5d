// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import TargetPicker from './TargetPicker.vue'

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

it('offers sandboxes of another image or size, and hosts whose key was confirmed', async () => {
  const host = { kind: 'ssh', username: 'anna', host: 'build.example.org', host_key: null }
  const items = [
    { id: 'sandbox_1', name: 'Big', kind: 'sandbox', image: 'py', size: 'large' },
    { id: 'host_1', name: 'Build', ...host },
  ]
  startFakeServer({ 'GET /targets': () => json({ items }) })
  const { emitted } = render(TargetPicker, { props: { target: null }, global: { plugins: [i18n] } })
  await userEvent.click(await screen.findByRole('button', { name: 'Computer: Usual computer' }))
  expect((await screen.findAllByRole('menuitemradio')).map((one) => one.textContent)).toEqual([
    expect.stringContaining('Usual computer'),
    'Bigpy · large',
  ])
  await userEvent.click(screen.getByText('Big'))
  expect(emitted().pick).toEqual([['sandbox_1']])
})
