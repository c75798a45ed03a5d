// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import type { Computer } from './computer'
import ComputerPanel from './ComputerPanel.vue'
import { face } from '@/shared/lib/face'
import { usePanel } from './panel'
import { panels } from './panels'
import { SOON_MS } from './useComputer'

const awaited: Computer = {
  status: 'none',
  reason: null,
  hasDesktop: true,
  queuePosition: null,
  isAtOwnLimit: false,
  warning: null,
}
const given = {
  sessionId: 's',
  computer: awaited,
  cards: [],
  filesVersion: 0,
  modelCalls: [],
  hasModelCalls: true,
  written: 1,
  keptPapers: 1,
  ports: [],
  tasks: [],
  kept: [],
  agents: [{ key: 'tool:9', name: 'Reader', kind: null, state: 'done' as const, latest: null, calls: 2, said: '' }],
  background: [
    {
      id: 'bg_1',
      command: 'make',
      startedAt: '2026-01-01T00:00:00Z',
      timeoutS: 300,
      state: 'stopped' as const,
      exitCode: null,
      preview: '',
      durationMs: 1000,
      bodySeq: null,
    },
  ],
  closable: true,
  isRunning: false,
  usesScreen: false,
  wasStopped: false,
}
const names = (): (string | null)[] => screen.getAllByRole('tab').map((tab) => tab.textContent?.trim() ?? null)
const chosen = (): string | null => screen.getByRole('tab', { selected: true }).textContent?.trim() ?? null

beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
  startFakeServer({})
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show(props: Partial<typeof given> = {}) {
  return render(ComputerPanel, { props: { ...given, ...props }, global: { plugins: [i18n] } })
}

describe('the panels', () => {
  it('stand in the tab bar in the order of the table, the events for developers alone', async () => {
    show()
    const all = panels.map(({ title }) => i18n.global.t(title))
    expect(names()).toEqual(all.filter((name) => name !== 'Events'))
    face.value = 'developer'
    await nextTick()
    expect(names()).toEqual(all)
    face.value = 'user'
  })
  it('are shown by their tab, and each says beside it why the computer is not there', async () => {
    show()
    expect(screen.getByText('No computer yet')).toBeTruthy()
    await userEvent.click(screen.getByRole('tab', { name: 'Files' }))
    expect(usePanel().tab).toBe('files')
    expect(await screen.findByRole('region', { name: 'Files' }, { timeout: 5000 })).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Start it' })).toBeTruthy()
    await userEvent.click(screen.getByRole('tab', { name: 'Terminal' }))
    expect(screen.getByText('No commands yet.')).toBeTruthy()
  })
  it.each(['Files', 'Hide computer', 'Follow the agent'])('ask before %s takes what is typed in one', async (name) => {
    const call = { key: 'tool:1', name: 'shell_exec', arguments: {}, outcome: 'succeeded', startedAt: '2026-01-01' }
    show({ cards: [call] as never[] })
    usePanel().setOpen(true)
    await userEvent.click(screen.getByRole('tab', { name: 'Resources' }))
    await userEvent.click(await screen.findByRole('button', { name: 'Add resource' }))
    await userEvent.type(await screen.findByRole('textbox', { name: 'Title' }), 'Read')
    const press = (): Promise<void> =>
      userEvent.click(screen.queryByRole('tab', { name }) ?? screen.getByRole('button', { name }))
    await press()
    await userEvent.click(await screen.findByRole('button', { name: 'Keep editing' }))
    expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'Title' }).value).toBe('Read')
    expect(usePanel()).toMatchObject({ tab: 'resources', isOpen: true, isFollowing: false })
    await press()
    await userEvent.click(await screen.findByRole('button', { name: 'Discard' }))
    const { tab, isOpen, isFollowing } = usePanel()
    expect(tab !== 'resources' || !isOpen || isFollowing).toBe(true)
  })
  it.each([
    ['once no call waits for it, though the run goes on with something else', [], true],
    ['not while a call waits for it, as the stream tells of it then', [{ outcome: 'running', startedAt: null }], false],
  ])('show a computer that starts: it is looked after %s', async (_, cards, isLookedAfter) => {
    vi.useFakeTimers()
    try {
      const server = startFakeServer({ 'GET /sessions/s/sandbox': () => json({ status: 'starting', seq: 1 }) })
      show({ computer: { ...awaited, status: 'starting' }, cards: cards as never[], isRunning: true })
      await vi.advanceTimersByTimeAsync(3 * SOON_MS)
      expect(server.calls.length > 2).toBe(isLookedAfter)
    } finally {
      vi.useRealTimers()
    }
  })
  it('leave out a desktop that a computer does not have, and have it again with one that does', async () => {
    const { rerender } = show({ computer: { ...awaited, status: 'ready', hasDesktop: false } })
    expect(screen.queryByRole('tab', { name: 'Browser' })).toBeNull()
    expect(screen.queryByRole('tab', { name: 'Desktop' })).toBeNull()
    expect(chosen()).toBe('Terminal')
    await rerender({ computer: { ...awaited, status: 'failed', hasDesktop: false } })
    expect(chosen()).toBe('Desktop')
  })
})
