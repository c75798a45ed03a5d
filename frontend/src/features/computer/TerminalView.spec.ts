// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import type { ToolCard } from '@/features/tools'
import { i18n } from '@/i18n'
import { startFakeServer } from '@/shared/testing/fakeServer'
import TerminalView from './TerminalView.vue'

afterEach(cleanup)
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
const shell = (command: string, background: string | null = null) => ({
  display: { type: 'shell', command, background },
})

it('shows what ran, and nothing that was only asked for', () => {
  const cards = [
    card('echo asked', 'asking'),
    card('echo approved', 'approved'),
    card('echo refused', 'refused'),
    card('echo skipped', 'skipped'),
    card('echo unknown', 'failed', { preview: 'There is no tool named' }),
    card('false', 'failed', shell('false')),
    card('echo done', 'succeeded', shell('echo done')),
    card('sleep 9', 'cut'),
    card('make', 'running'),
  ]
  render(TerminalView, { props: { sessionId: 's', cards }, global: { plugins: [i18n] } })
  const commands = [...screen.getByRole('region').children].map((entry) => entry.querySelector('p')?.textContent)
  expect(commands).toEqual(['$ false', '$ echo done', '$ sleep 9', '$ make'])
})

it('leaves commands in the background to their own panel', () => {
  const cards = [
    card('make all', 'running', { name: 'background_run' }),
    card('make', 'succeeded', {
      name: 'background_run',
      ...shell('make', 'running'),
      preview: '{"background_id": "bg_1"}',
    }),
    card('ls', 'succeeded', shell('ls')),
  ]
  render(TerminalView, { props: { sessionId: 's', cards }, global: { plugins: [i18n] } })
  expect(screen.getByRole('region').textContent).toBe('$ ls')
})

it('fetches the whole of a long output by reference', async () => {
  const whole = Array.from({ length: 10_000 }, (_, at) => `${at + 1}`).join('\n')
  startFakeServer({ 'GET /sessions/s/events/7/body': () => new Response(whole) })
  const body = { seq: 7, size: whole.length, media_type: 'text/plain' }
  const cards = [card('seq 10000', 'succeeded', { ...shell('seq 10000'), preview: '1\n2\n[cut]', body })]
  render(TerminalView, { props: { sessionId: 's', cards }, global: { plugins: [i18n] } })
  await userEvent.click(screen.getByRole('button', { name: 'Show all' }))
  await vi.waitFor(() => expect(screen.getByRole('region').textContent).toContain('5000\n5001\n5002'))
  expect(screen.getByRole('region').textContent).toContain('\n10000')
  expect(screen.queryByRole('button')).toBeNull()
  vi.unstubAllGlobals()
})

it('shows each shell by itself, the one used last first', async () => {
  const of = (command: string, name: string) =>
    card(command, 'succeeded', { display: { type: 'shell', command, shell: name, background: null } })
  const cards = [of('ls', 'main'), of('npm test', 'tests'), of('pwd', 'main')]
  render(TerminalView, { props: { sessionId: 's', cards }, global: { plugins: [i18n] } })
  expect(screen.getByRole('region').textContent).toBe('$ ls$ pwd')
  await userEvent.click(screen.getByRole('button', { name: 'tests' }))
  expect(screen.getByRole('region').textContent).toBe('$ npm test')
})
