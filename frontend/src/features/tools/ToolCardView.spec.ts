// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { startFakeServer } from '@/shared/testing/fakeServer'
import type { ToolCard } from './body/card'
import ToolCardView from './ToolCardView.vue'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})
const card: ToolCard = {
  key: 'tool:1',
  callId: 'c',
  name: 'shell_exec',
  arguments: { command: 'ls' },
  phrase: 'Running ls',
  outcome: 'running',
  startedAt: new Date().toISOString(),
  durationMs: null,
  output: '',
  preview: '',
  display: null,
  body: null,
}
const show = (changes: Partial<ToolCard>) =>
  render(ToolCardView, { props: { card: { ...card, ...changes }, sessionId: 's' }, global: { plugins: [i18n] } })

describe('ToolCardView', () => {
  it('is one line until opened', async () => {
    show({ outcome: 'succeeded', preview: 'a.txt', durationMs: 1840 })
    const line = screen.getByRole('button', { name: /Ran ls.*1\.8 s.*Succeeded/ })
    expect(line.getAttribute('aria-expanded')).toBe('false')
    expect(screen.queryByText('a.txt')).toBeNull()
    await userEvent.click(line)
    expect(screen.getByText('a.txt')).toBeTruthy()
  })
  it('stands open where that is wanted, until it is folded away', async () => {
    const props = { card: { ...card, outcome: 'succeeded' as const, preview: 'a.txt' }, sessionId: 's' }
    const { rerender } = render(ToolCardView, { props, global: { plugins: [i18n] } })
    await rerender({ opens: true })
    expect(screen.getByText('a.txt')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: /Ran ls/ }))
    expect(screen.queryByText('a.txt')).toBeNull()
  })
  it.each([
    ['en', 'running', 'Running ls'],
    ['en', 'succeeded', 'Ran ls'],
    ['en', 'failed', 'Tried to run ls'],
    ['en', 'refused', 'Run ls'],
    ['en', 'cut', 'Stopped running ls'],
    ['zh', 'running', '正在运行 ls'],
    ['zh', 'succeeded', '已运行 ls'],
    ['zh', 'failed', '尝试运行 ls'],
    ['zh', 'cut', '已停止运行 ls'],
  ] as const)('says in %s what a call that is %s does or did', (locale, outcome, said) => {
    i18n.global.locale.value = locale
    try {
      show({ outcome })
      expect(screen.getByText(said)).toBeTruthy()
    } finally {
      i18n.global.locale.value = 'en'
    }
  })
  it('says of a command in the background where it is seen, and not what the model was told', async () => {
    show({ name: 'background_run', outcome: 'succeeded', preview: '{"background_id": "bg_1", "timeout_s": 300}' })
    await userEvent.click(screen.getByRole('button'))
    expect(screen.getByText(/The panel Background/)).toBeTruthy()
    expect(screen.queryByText(/bg_1/)).toBeNull()
  })
  it('has under a call that opened a port, and no other one, the way to it', () => {
    const exposed = { name: 'expose_port', arguments: { port: 3000, label: 'Shop' } }
    show({ ...exposed, outcome: 'failed' })
    expect(screen.getByText('Shop')).toBeTruthy()
    show({ ...exposed, outcome: 'succeeded', name: 'close_port' })
    expect(screen.queryByText(/not open any more/)).toBeNull()
    show({ ...exposed, outcome: 'succeeded' })
    expect(screen.getByText('Opened port 3000')).toBeTruthy()
    expect(screen.getByText('Port 3000 is not open any more.')).toBeTruthy()
    expect(screen.getAllByText('Shop')).toHaveLength(1)
  })
  it('names code by its first line, or by its context', () => {
    const code = { name: 'code_run', phrase: 'Running code', outcome: 'succeeded' } as const
    show({ ...code, arguments: { code: '\n\nimport pandas\nprint(1)' } })
    expect(screen.getByText('import pandas')).toBeTruthy()
    show({ ...code, arguments: { code: 'import os', context: 'plots' } })
    expect(screen.getByText('plots')).toBeTruthy()
    expect(screen.queryByText('import os')).toBeNull()
  })
  it('hides and turns nothing of what was called', () => {
    show({ outcome: 'succeeded', arguments: { command: 'echo \u202Esl\u2069' } })
    expect(screen.getByText('Ran echo ⟨U+202E⟩sl⟨U+2069⟩')).toBeTruthy()
  })
  it.each([
    ['en', 'Listed the workspace'],
    ['zh', '已列出工作区'],
  ] as const)('names the workspace in %s, without its path after that', (locale, said) => {
    i18n.global.locale.value = locale
    try {
      show({ name: 'file_list', arguments: { path: '.' }, outcome: 'succeeded' })
      expect(screen.getByRole('button').textContent.replace(/\s/g, '')).toBe(said.replace(/\s/g, ''))
    } finally {
      i18n.global.locale.value = 'en'
    }
  })
  it('counts no time while its computer is awaited', async () => {
    vi.useFakeTimers()
    try {
      const { rerender } = show({ startedAt: null })
      await vi.advanceTimersByTimeAsync(5000)
      expect(screen.getByRole('button').textContent).not.toMatch(/\d s/)
      await rerender({ card: { ...card, startedAt: new Date().toISOString() } })
      await vi.advanceTimersByTimeAsync(2000)
      expect(screen.getByRole('button').textContent).toMatch(/2\.0 s/)
    } finally {
      vi.useRealTimers()
    }
  })
  it('says that it waits for its computer, and that it runs once that is there', async () => {
    const { rerender } = show({ startedAt: null })
    expect(screen.getByRole('button').textContent).toMatch(/^Run ls.*Waits for the computer/)
    // Its sign turns, its words don’t.
    expect(screen.getByText('Waits for the computer').className).not.toContain('spin')
    await rerender({ card })
    expect(screen.getByRole('button').textContent).toMatch(/^Running ls/)
    expect(screen.queryByText('Waits for the computer')).toBeNull()
  })
  it('says in a word what failed or was stopped', async () => {
    const { rerender } = show({ outcome: 'failed' })
    expect(screen.getByText('Failed')).toBeTruthy()
    await rerender({ card: { ...card, outcome: 'cut' } })
    expect(screen.getByText('Stopped')).toBeTruthy()
  })
  it('says of a tool it does not know what the server says, and its name when it has ended', async () => {
    const unknown = { name: 'brand_new', phrase: 'Painting the wall' }
    const { rerender } = show(unknown)
    expect(screen.getByText('Painting the wall')).toBeTruthy()
    await rerender({ card: { ...card, ...unknown, outcome: 'succeeded' } })
    expect(screen.getByText('Used brand_new')).toBeTruthy()
  })
  it('shows live output of a running command', async () => {
    const { rerender } = show({ output: 'one\n' })
    await userEvent.click(screen.getByRole('button', { name: /Running/ }))
    await rerender({ card: { ...card, output: 'one\ntwo\n' } })
    expect(screen.getByText(/two/)).toBeTruthy()
  })
  it.each([
    ['Error: there is no file a.md\nLook again.', 'there is no file a.md'],
    ['', 'It gave no reason.'],
  ])('says beside that it failed why: %s', (preview, reason) => {
    const { container } = show({ name: 'file_read', outcome: 'failed', preview })
    expect(container.querySelector('[data-reason]')?.textContent).toBe(reason)
  })
  it('says the exit code once, beside what the command said last', () => {
    const { container } = show({
      outcome: 'failed',
      preview: 'ls: cannot access x\n[exit code 2]',
      display: { type: 'shell', command: 'ls x', shell: 'main', exit_code: 2, cwd: '/workspace', background: null },
    })
    expect(container.querySelector('[data-reason]')?.textContent).toBe('Exit code 2 · ls: cannot access x')
  })
  it('tells the exit code of a command that failed', async () => {
    show({
      outcome: 'failed',
      display: { type: 'shell', command: 'false', shell: 'main', exit_code: 1, cwd: '/workspace', background: null },
    })
    await userEvent.click(screen.getByRole('button', { name: /Failed/ }))
    expect(screen.getByText('Exit code 1')).toBeTruthy()
  })
  it('fetches the whole of a long result when asked', async () => {
    const server = startFakeServer({ 'GET /sessions/s/events/7/body': () => new Response('the whole') })
    show({
      name: 'file_read',
      outcome: 'succeeded',
      preview: 'the',
      body: { seq: 7, size: 9, media_type: 'text/plain', digest: '', parts: [] },
    })
    await userEvent.click(screen.getByRole('button', { name: /Succeeded/ }))
    expect(server.calls).toHaveLength(0)
    await userEvent.click(screen.getByRole('button', { name: /Show all/ }))
    expect(await screen.findByText('the whole')).toBeTruthy()
  })
  it('calls what an agent tells its team by what it is', async () => {
    const given = { request_id: 'req_1', approve: true, feedback: 'Go on' }
    show({ name: 'plan_review', arguments: given, outcome: 'succeeded' })
    await userEvent.click(screen.getByRole('button'))
    for (const label of ['Number of the request', 'Approved', 'Feedback']) expect(screen.getByText(label)).toBeTruthy()
    expect(screen.queryByText('request_id')).toBeNull()
  })
  it('shows a tool it does not know by its arguments', async () => {
    show({ name: 'brand_new', arguments: { colour: 'green' }, phrase: '', outcome: 'succeeded', preview: 'fine' })
    await userEvent.click(screen.getByRole('button', { name: /brand_new/ }))
    expect(screen.getByRole('definition').textContent).toBe('green')
    expect(screen.getByRole('term').textContent).toBe('colour')
  })
  it('shows what another agent is given in words, and what it says as an answer', async () => {
    const given = { description: 'count', prompt: 'Count **all** files.', agent_type: 'explore' }
    show({ name: 'task', arguments: given, outcome: 'succeeded', preview: 'There are **seven**:\n\n```\na.txt\n```' })
    await userEvent.click(screen.getByRole('button'))
    const terms = (await screen.findAllByRole('term')).map((term) => term.textContent)
    expect(terms).toEqual(['Description', 'Task', 'Kind of agent'])
    expect(screen.getByText('Count **all** files.')).toBeTruthy()
    expect(screen.getByText('seven').tagName).toBe('STRONG')
    expect(screen.queryByText(/```/)).toBeNull()
  })
  it('shows a list of steps one to a line, and what it can not take apart as it is', async () => {
    const steps = [
      { title: 'Look', status: 'done', result: '' },
      { title: 'Write', status: 'in_progress', times: 2 },
    ]
    show({ name: 'plan_update', arguments: { steps, deep: { a: { b: [1] } }, none: null }, outcome: 'succeeded' })
    await userEvent.click(screen.getByRole('button'))
    const told = screen.getAllByRole('definition').map((one) => one.textContent)
    expect(told[0]).toBe('Look · done\nWrite · in_progress · 2')
    expect([told.length, JSON.parse(told[1] ?? '')]).toEqual([2, { a: { b: [1] } }])
  })
  it('shows what was printed as a PDF by its file and its text', async () => {
    const display = { type: 'document', path: 'out/q3.pdf', title: 'Q3', url: null } as const
    show({ name: 'save_to_pdf', arguments: { text: '# Q3', file_name: 'out/q3' }, outcome: 'succeeded', display })
    await userEvent.click(screen.getByRole('button', { name: /Printed out\/q3/ }))
    expect(screen.getByText('out/q3.pdf')).toBeTruthy()
    expect(screen.getByText('# Q3')).toBeTruthy()
  })
})
