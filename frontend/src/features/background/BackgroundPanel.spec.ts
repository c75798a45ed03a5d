// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { flushPromises } from '@vue/test-utils'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import BackgroundPanel from './BackgroundPanel.vue'
import type { BackgroundCommand } from './commands'

const running: BackgroundCommand = {
  id: 'bg_1',
  command: 'make all',
  startedAt: '2026-01-01T00:00:00Z',
  timeoutS: 300,
  state: 'running',
  exitCode: null,
  preview: '',
  durationMs: null,
  bodySeq: null,
}
const ended: BackgroundCommand = {
  ...running,
  id: 'bg_2',
  command: 'npm test',
  state: 'ended',
  exitCode: 2,
  preview: 'two failed',
  durationMs: 61_000,
  bodySeq: 9,
}

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function show(...commands: BackgroundCommand[]) {
  return render(BackgroundPanel, { props: { sessionId: 's', commands }, global: { plugins: [i18n] } })
}

describe('the panel of background commands', () => {
  it('names what runs first, and how each ended', () => {
    startFakeServer({})
    show(running, ended)
    const rows = screen.getAllByRole('listitem').map((row) => row.textContent)
    expect(rows[0]).toContain('make all')
    expect(rows[0]).toContain('Running')
    expect(rows[1]).toContain('npm test')
    expect(rows[1]).toContain('Exit code 2')
    expect(rows[1]).toContain('1 min 1 s')
    expect(rows[1]).toMatch(/started (Jan|Dec) /)
  })

  it('says so where there is nothing', () => {
    startFakeServer({})
    show()
    expect(screen.getByText(/Nothing runs in the background/)).toBeTruthy()
  })

  it('shows what a running one wrote so far', async () => {
    startFakeServer({
      'GET /sessions/s/background/bg_1': () => json({ output: 'compiling\n[still running, for 3 s]' }),
    })
    show(running)
    await userEvent.click(screen.getByRole('button', { name: /make all.*Running/ }))
    expect((await screen.findByText(/compiling/)).textContent).toBe('compiling')
  })

  it('follows what a running one writes to its end', async () => {
    let answer = (): void => undefined
    const isAsked = new Promise<void>((resolve) => (answer = resolve))
    const output = async () => (await isAsked, json({ output: 'compiling' }))
    startFakeServer({ 'GET /sessions/s/background/bg_1': output })
    show(running)
    await userEvent.click(screen.getByRole('button', { name: /make all.*Running/ }))
    const box = screen.getByLabelText('Output of the command')
    vi.spyOn(box, 'scrollHeight', 'get').mockImplementation(() => (box.textContent?.includes('compiling') ? 900 : 0))
    answer()
    await vi.waitFor(() => expect(box.scrollTop).toBe(900))
  })

  it('shows the end of one that is over, and all of it when asked', async () => {
    startFakeServer({ 'GET /sessions/s/events/9/body': () => new Response('one failed\ntwo failed') })
    show(ended)
    await userEvent.click(screen.getByRole('button', { name: /npm test/ }))
    expect(screen.getByText(/two failed/)).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Show all' }))
    expect(await screen.findByText(/one failed/)).toBeTruthy()
  })

  it('stops one by a button, and says what went wrong', async () => {
    let isRefused = true
    const server = startFakeServer({
      'POST /sessions/s/background/bg_1/stop': () => (isRefused ? problem(503, 'store_unavailable') : json({})),
    })
    show(running)
    await userEvent.click(screen.getByRole('button', { name: 'Stop make all' }))
    expect(await screen.findByRole('alert')).toBeTruthy()
    isRefused = false
    await userEvent.click(screen.getByRole('button', { name: 'Stop make all' }))
    await vi.waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
    expect(server.calls.filter(({ method }) => method === 'POST')).toHaveLength(2)
  })

  it('keeps what it said of a stop, and what was shown, while it looks again and again', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const told = ['compiling', '', '']
    const server = startFakeServer({
      'GET /sessions/s/background/bg_1': () => json({ output: told.shift() ?? 'linking' }),
      'POST /sessions/s/background/bg_1/stop': () => problem(503, 'store_unavailable'),
    })
    const looks = (): number => server.calls.filter(({ method }) => method === 'GET').length
    const { rerender } = show(running)
    await userEvent.click(screen.getByRole('button', { name: /make all.*Running/ }))
    await vi.waitFor(() => screen.getByText(/compiling/))
    await userEvent.click(screen.getByRole('button', { name: 'Stop make all' }))
    await vi.waitFor(() => screen.getByRole('alert'))
    for (const looked of [2, 3]) {
      vi.advanceTimersByTime(2_000)
      await vi.waitFor(() => expect(looks()).toBe(looked))
    }
    await flushPromises()
    expect(screen.getByText(/compiling/)).toBeTruthy()
    vi.advanceTimersByTime(2_000)
    await vi.waitFor(() => screen.getByText(/linking/))
    expect(screen.getByRole('alert')).toBeTruthy()
    await rerender({ commands: [{ ...running, state: 'stopped', preview: 'linking' }] })
    expect(screen.queryByRole('alert')).toBeNull()
  })
})
