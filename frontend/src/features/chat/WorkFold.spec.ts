// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import type { WorkItem } from './fold'
import type { ToolItem } from './transcript'
import WorkFold from './WorkFold.vue'

afterEach(() => {
  cleanup()
  vi.useRealTimers()
  i18n.global.locale.value = 'en'
})
const call = (at: number, changes: Partial<ToolItem> = {}): ToolItem => ({
  kind: 'tool',
  agentId: null,
  agentKind: null,
  teammate: null,
  inner: [],
  key: `tool:${at}`,
  callId: `c${at}`,
  name: 'shell_exec',
  arguments: { command: `step ${at}` },
  phrase: '',
  outcome: 'succeeded',
  needsComputer: true,
  startedAt: '2026-01-01T00:00:00Z',
  durationMs: 10,
  output: '',
  outputPoints: 0,
  preview: '',
  display: null,
  body: null,
  ...changes,
})
const nineteen = Array.from({ length: 19 }, (_, at) => call(at))
const failed = (at: number): ToolItem =>
  call(at, {
    outcome: 'failed',
    preview: 'no such file',
    display: { type: 'shell', command: 'x', shell: 'main', exit_code: 2, cwd: '/', background: null },
  })

function show(steps: readonly ToolItem[], activity = '') {
  const pinia = createPinia()
  setActivePinia(pinia)
  const work: WorkItem = { kind: 'work', key: 'work:1', steps, durationMs: activity ? null : 15_000 }
  const props = { work, sessionId: 's', activity, since: null, isFound: false }
  return render(WorkFold, { props, global: { plugins: [i18n, pinia] } })
}
it('counts no time of the work while it waits until the person hands back', () => {
  const step = call(1, { outcome: 'running', startedAt: null, durationMs: null })
  const work: WorkItem = { kind: 'work', key: 'work:1', steps: [step], durationMs: null }
  const props = { work, sessionId: 's', activity: 'Waits until you hand back', since: '2026-01-01T00:00:00Z' }
  render(WorkFold, { props: { ...props, isHeld: true, isFound: false }, global: { plugins: [i18n, createPinia()] } })
  expect(screen.getByRole('button').textContent).toBe('Waits until you hand back')
})
const lines = (container: Element): number => container.querySelectorAll('button, p, li').length

describe('WorkFold', () => {
  it('is one line for nineteen calls, and two where some failed', () => {
    const { container } = show(nineteen)
    expect(lines(container)).toBe(1)
    expect(screen.getByRole('button').textContent).toBe('Worked for 15 s· 19 steps')
    cleanup()
    const broken = show([...nineteen.slice(2), failed(30), failed(31)])
    expect(lines(broken.container)).toBe(2)
    expect(screen.getByRole('button').textContent).toBe('Worked for 15 s· 19 steps· 2 failed')
    expect(screen.getByText(/Exit code 2 · no such file/)).toBeTruthy()
  })
  it('opens in place, by keyboard too', async () => {
    show(nineteen)
    const line = screen.getByRole('button', { expanded: false })
    line.focus()
    await userEvent.keyboard('{Enter}')
    expect(line.getAttribute('aria-expanded')).toBe('true')
    expect(screen.getByRole('list', { name: 'Steps' }).children).toHaveLength(19)
    expect(screen.getByRole('button', { name: /Ran step 7/ })).toBeTruthy()
    await userEvent.keyboard('{Enter}')
    expect(screen.queryByRole('list', { name: 'Steps' })).toBeNull()
  })
  it('says what goes on and for how long while it runs', async () => {
    vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') })
    show([call(1), call(2, { outcome: 'running', durationMs: null })], 'Running step 2')
    await vi.advanceTimersByTimeAsync(3_000)
    expect(screen.getByRole('button').textContent).toBe('Running step 2· 3.0 s· 2 steps')
  })
  it('says of a single call what it did, and why it failed', () => {
    show([failed(1)])
    expect(screen.getByRole('button').textContent).toBe('Tried to run step 1· 15 s· Failed')
    expect(screen.getByText('Exit code 2 · no such file')).toBeTruthy()
  })
  it('has what was written beside it while it runs', () => {
    const wrote = call(1, {
      name: 'file_write',
      display: {
        type: 'file',
        path: 'notes/a.md',
        operation: 'write',
        size: 1,
        entries: null,
        replaced: null,
        diff: null,
      },
    })
    show([wrote, call(2)], 'Working')
    expect(screen.getByRole('button', { name: 'a.md' })).toBeTruthy()
  })
  it('is written in Chinese too', () => {
    i18n.global.locale.value = 'zh'
    show([...nineteen, failed(20)])
    expect(screen.getByRole('button').textContent).toBe('工作了 15 s· 20 步· 1 步失败')
  })
})
