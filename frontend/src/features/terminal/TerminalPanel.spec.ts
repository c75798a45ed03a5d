// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ToolCard } from '@/features/tools'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { FakeSocket } from '@/shared/testing/fakeSocket'
import TerminalPanel from './TerminalPanel.vue'

const shown = vi.hoisted(() => ({ text: '' }))
vi.mock('./xterm', () => ({
  FitAddon: class {
    proposeDimensions = () => ({ cols: 80, rows: 24 })
  },
  Terminal: class {
    textarea = document.createElement('textarea')
    options = {}
    loadAddon = () => undefined
    open = () => undefined
    onData = () => undefined
    onBinary = () => undefined
    attachCustomKeyEventHandler = () => undefined
    dispose = () => undefined
    resize = () => undefined
    focus = () => undefined
    reset = () => (shown.text = '')
    write = (data: string | Uint8Array) => (shown.text += typeof data === 'string' ? data : '')
  },
}))

const card = (command: string, outcome: ToolCard['outcome'], more: object = {}) =>
  ({
    callId: command,
    name: 'shell_exec',
    arguments: { command },
    phrase: '',
    outcome,
    output: '',
    preview: '',
    display: null,
    ...more,
  }) as unknown as ToolCard
const shell = (command: string, background: string | null = null, name = 'main') => ({
  display: { type: 'shell', command, background, shell: name },
})
const show = (cards: ToolCard[], isComputerReady = true) =>
  render(TerminalPanel, { props: { sessionId: 's', cards, isComputerReady }, global: { plugins: [i18n] } })
const commands = () => [...shown.text.replace(/\u001b\[[0-9;]*m/g, '').matchAll(/^\$ (.*)$/gm)].map(([, one]) => one)
let open: string[] = []
let closed: string[] = []

beforeEach(() => {
  shown.text = ''
  open = []
  closed = []
  FakeSocket.opened = []
  vi.stubGlobal('WebSocket', FakeSocket)
  startFakeServer({
    'GET /sessions/s/terminal': () =>
      json({ items: open.map((name) => ({ name, cols: 80, rows: 24, viewers: 0, is_busy: false })) }),
    'POST /sessions/s/terminal/ticket': ({ body }) =>
      json({ url: `/api/sessions/s/terminal?ticket=${(body as { terminal: string }).terminal}` }, 201),
    'DELETE /sessions/s/terminal/main': () => {
      closed.push('main')
      return new Response(null, { status: 204 })
    },
    'GET /sessions/s/events/7/body': () => new Response(Array.from({ length: 10_000 }, (_, at) => at + 1).join('\n')),
  })
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

it('shows what ran, and nothing that was only asked for or runs in the background', async () => {
  show([
    card('echo asked', 'asking'),
    card('echo refused', 'refused'),
    card('echo unknown', 'failed', { preview: 'There is no tool named' }),
    card('false', 'failed', shell('false')),
    card('echo done', 'succeeded', shell('echo done')),
    card('make all', 'succeeded', { name: 'background_run', ...shell('make all', 'running') }),
    card('sleep 9', 'cut'),
    card('make', 'running'),
  ])
  await vi.waitFor(() => expect(commands()).toEqual(['false', 'echo done', 'sleep 9', 'make']), { timeout: 4000 })
})

it('fetches the whole of a long output by reference', async () => {
  const body = { seq: 7, size: 48_893, media_type: 'text/plain' }
  show([card('seq 10000', 'succeeded', { ...shell('seq 10000'), preview: '1\n2\n[cut]', body })])
  await vi.waitFor(() => expect(shown.text).toContain('\n9999\n10000'), { timeout: 4000 })
  expect(shown.text).toContain('5000\n5001')
  expect(shown.text).not.toContain('[cut]')
})

it('shows each shell of the agent by itself, the one used last first', async () => {
  show([
    card('ls', 'succeeded', shell('ls')),
    card('npm test', 'succeeded', shell('npm test', null, 'tests')),
    card('pwd', 'succeeded', shell('pwd')),
  ])
  await vi.waitFor(() => expect(commands()).toEqual(['ls', 'pwd']), { timeout: 4000 })
  shown.text = ''
  await userEvent.click(screen.getByRole('button', { name: 'tests' }))
  await vi.waitFor(() => expect(commands()).toEqual(['npm test']), { timeout: 4000 })
})

it('opens a terminal of the user, and closes it with what runs in it', async () => {
  show([])
  await userEvent.click(screen.getByRole('button', { name: 'Open a terminal' }))
  await vi.waitFor(() => expect(FakeSocket.opened.map(({ address }) => address.search)).toEqual(['?ticket=main']), {
    timeout: 4000,
  })
  expect(screen.getByRole('button', { name: 'Your terminal' }).getAttribute('aria-pressed')).toBe('true')
  await userEvent.click(screen.getByRole('button', { name: 'New terminal' }))
  expect(await screen.findByRole('button', { name: 'Your terminal 2' })).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Your terminal' }))
  await userEvent.click(screen.getByRole('button', { name: 'Close Your terminal and end what runs in it' }))
  await vi.waitFor(() => expect(closed).toEqual(['main']), { timeout: 4000 })
  expect(screen.queryByRole('button', { name: 'Your terminal' })).toBeNull()
})

it('finds terminals that are open already', async () => {
  open = ['main', 'terminal-3']
  show([])
  expect(await screen.findByRole('button', { name: 'Your terminal 3' })).toBeTruthy()
})
