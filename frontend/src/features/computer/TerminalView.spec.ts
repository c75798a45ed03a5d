// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import type { ToolCard } from '@/features/tools'
import { i18n } from '@/i18n'
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
  render(TerminalView, { props: { cards }, global: { plugins: [i18n] } })
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
  render(TerminalView, { props: { cards }, global: { plugins: [i18n] } })
  expect(screen.getByRole('region').textContent).toBe('$ ls')
})
