// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Target, TargetTrial } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import TargetsPage from './TargetsPage.vue'

const key = { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:first' }
const other = { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:second' }
const host: Target = {
  id: 'host_1',
  name: 'Build',
  kind: 'ssh',
  host: 'build.example.org',
  port: 22,
  username: 'anna',
  folder: '~/work',
  sign_in_by: 'key',
  public_key: 'ssh-ed25519 AAAA Build',
  host_key: null,
  seen_key: null,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
}
const refused: TargetTrial = {
  ok: false,
  code: 'remote_host_key_unconfirmed',
  steps: [
    { name: 'address', ok: true, detail: '192.0.2.7' },
    { name: 'host_key', ok: false, detail: 'Nobody confirmed it yet.' },
  ],
  host_key: key,
  key_state: 'unknown',
  latency_ms: 3,
  shell: null,
  folder: null,
}
const fine: TargetTrial = { ...refused, ok: true, code: null, key_state: 'pinned', shell: 'Bash 5', folder: '/work' }

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show(items: Target[], answers: Parameters<typeof startFakeServer>[0] = {}) {
  const held = { items }
  const server = startFakeServer({
    'GET /targets': () => json({ items: held.items, ssh: 'any', can_use_agent: false }),
    ...answers,
  })
  render(TargetsPage, { global: { plugins: [i18n] } })
  return { server, held }
}

describe('the page of computers', () => {
  it('adds a host with a key that is made for it', async () => {
    const { server, held } = show([], { 'POST /targets': () => json(host, 201) })
    await userEvent.click(await screen.findByRole('button', { name: 'Add a remote host' }))
    await userEvent.type(await screen.findByLabelText('Name'), 'Build')
    await userEvent.type(screen.getByLabelText('Host'), 'build.example.org')
    held.items = [host]
    await userEvent.type(screen.getByLabelText('User on that host'), 'anna{Enter}')
    expect(await screen.findByText('ssh-ed25519 AAAA Build')).toBeTruthy()
    expect(server.calls.find(({ method }) => method === 'POST')?.body).toEqual({
      name: 'Build',
      host: 'build.example.org',
      port: 22,
      username: 'anna',
      folder: '',
      sign_in_by: 'key',
    })
  })
  it('says at its field what is missing or refused', async () => {
    show([], { 'POST /targets': () => problem(422, 'invalid', 'body.host: no host') })
    await userEvent.click(await screen.findByRole('button', { name: 'Add a remote host' }))
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Give it a name.')).toBeTruthy()
    await vi.waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('Name')))
  })
  it('shows the fingerprint of a host that is tested, and confirms it', async () => {
    const trials = [refused, fine]
    const { server, held } = show([host], {
      'POST /targets/host_1/test': () => json(trials.shift()),
      'PATCH /targets/host_1': () => json(host),
    })
    held.items = [{ ...host, seen_key: key }]
    await userEvent.click(await screen.findByRole('button', { name: 'Test connection' }))
    expect(await screen.findByText('Nobody confirmed it yet.', { exact: false })).toBeTruthy()
    expect(screen.getByText('ssh-ed25519 SHA256:first')).toBeTruthy()
    held.items = [{ ...host, seen_key: key, host_key: key }]
    await userEvent.click(screen.getByRole('button', { name: 'This is the right machine' }))
    expect(await screen.findByText('Build works.')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'This is the right machine' })).toBeNull()
    expect(server.calls.find(({ method }) => method === 'PATCH')?.body).toEqual({
      confirmed_fingerprint: 'SHA256:first',
    })
  })
  it('warns of another key than the confirmed one, with both fingerprints', async () => {
    show([{ ...host, host_key: key, seen_key: other }])
    await userEvent.click(await screen.findByRole('button', { name: /Build/, expanded: false }))
    expect(screen.getByText(/may be another machine that poses as yours/)).toBeTruthy()
    expect(screen.getByText('ssh-ed25519 SHA256:first')).toBeTruthy()
    expect(screen.getByText('ssh-ed25519 SHA256:second')).toBeTruthy()
  })
})
