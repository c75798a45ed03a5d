// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { RemoteHost, SandboxChoices, SandboxTarget, Target, TargetTrial } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import TargetsPage from './TargetsPage.vue'

const key = { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:first' }
const other = { algorithm: 'ssh-ed25519', fingerprint: 'SHA256:second' }
const host: RemoteHost = {
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
const size = { cpus: 4, memory_mb: 8192, disk_mb: 0 }
const offer: SandboxChoices = {
  default_size: { cpus: 2, memory_mb: 2048, disk_mb: 10240 },
  images: [
    { name: 'py', available: true, reason: null },
    { name: 'old', available: false, reason: 'It is missing.' },
  ],
  sizes: [
    { name: 'large', size, counts_as: 4 },
    { name: 'small', size: { ...size, cpus: 1 }, counts_as: 1 },
    { name: 'half', size: { ...size, cpus: 0.5 }, counts_as: 1 },
  ],
}
const none: SandboxChoices = { ...offer, images: [], sizes: [] }
const sandbox: SandboxTarget = {
  id: 'sandbox_1',
  name: 'Big',
  kind: 'sandbox',
  image: 'py',
  size: 'large',
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
    'GET /targets/choices': () => json(none),
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

describe('sandboxes of another image or size', () => {
  const choosing = { 'GET /targets/choices': () => json(offer) }
  it('are added by what the server allows, and say as how many they count', async () => {
    const { server, held } = show([], { ...choosing, 'POST /targets': () => json(sandbox, 201) })
    await userEvent.click(await screen.findByRole('button', { name: 'Add a computer' }))
    await userEvent.type(await screen.findByLabelText('Name'), 'Big')
    expect(screen.getByRole<HTMLOptionElement>('option', { name: 'old (not there now)' }).disabled).toBe(true)
    await userEvent.selectOptions(screen.getByLabelText('Image'), 'py')
    expect(screen.getByRole('option', { name: 'small: 1 CPU, 8 GB of memory' })).toBeTruthy()
    expect(screen.getByRole('option', { name: 'half: 0.5 CPUs, 8 GB of memory' })).toBeTruthy()
    await userEvent.selectOptions(screen.getByLabelText('Size'), 'large: 4 CPUs, 8 GB of memory')
    expect(screen.getByText(/counts as 4 of the computers/)).toBeTruthy()
    held.items = [sandbox]
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText(/Big is added\. Choose it beside/)).toBeTruthy()
    expect(server.calls.find(({ method }) => method === 'POST')?.body).toEqual({
      kind: 'sandbox',
      name: 'Big',
      image: 'py',
      size: 'large',
    })
  })
  it('need an image or a size, and a remote host can be added instead', async () => {
    const { server } = show([], choosing)
    await userEvent.click(await screen.findByRole('button', { name: 'Add a computer' }))
    await userEvent.type(await screen.findByLabelText('Name'), 'Big{Enter}')
    expect(await screen.findByText('Choose an image or a size other than the usual one.')).toBeTruthy()
    expect(server.calls.some(({ method }) => method === 'POST')).toBe(false)
    await userEvent.click(screen.getByLabelText('Remote host over SSH'))
    expect(await screen.findByLabelText('Host')).toBeTruthy()
  })
  it('are not offered where the server has the usual one only, which is said', async () => {
    show([])
    expect(await screen.findByText(/one image and one size here/)).toBeTruthy()
    await userEvent.click(await screen.findByRole('button', { name: 'Add a remote host' }))
    expect(await screen.findByLabelText('Host')).toBeTruthy()
    expect(screen.queryByLabelText('Size')).toBeNull()
  })
  it('are tested, and keep showing what is no longer allowed when they are changed', async () => {
    const trial: TargetTrial = {
      ...fine,
      ok: false,
      code: 'computer_not_allowed',
      latency_ms: null,
      steps: [{ name: 'size', ok: false, detail: "The size 'huge' is not allowed on this server." }],
    }
    const { server } = show([{ ...sandbox, size: 'huge' }], {
      ...choosing,
      'POST /targets/sandbox_1/test': () => json(trial),
      'PATCH /targets/sandbox_1': () => json(sandbox),
    })
    await userEvent.click(await screen.findByRole('button', { name: /Big/, expanded: false }))
    await userEvent.click(screen.getByRole('button', { name: 'Test whether it can be had' }))
    expect(await screen.findByText(/The size 'huge' is not allowed on this server/)).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Edit Big' }))
    expect(await screen.findByRole('option', { name: 'huge (no longer allowed)' })).toBeTruthy()
    await userEvent.selectOptions(screen.getByLabelText('Size'), '')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await vi.waitFor(() =>
      expect(server.calls.find(({ method }) => method === 'PATCH')?.body).toEqual({
        name: 'Big',
        image: 'py',
        size: null,
      }),
    )
  })
})
