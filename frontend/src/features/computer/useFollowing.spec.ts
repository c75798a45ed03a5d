// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { computed, defineComponent, h, nextTick, ref } from 'vue'
import type { ToolCard } from '@/features/tools'
import { i18n } from '@/i18n'
import { startFakeServer } from '@/shared/testing/fakeServer'
import { useShownCall } from '@/shared/lib/shownCall'
import type { Computer } from './computer'
import ComputerPanel from './ComputerPanel.vue'
import { usePanel } from './panel'
import { useFollowing } from './useFollowing'

const card = (at: number, name: string, more: Partial<ToolCard> = {}): ToolCard => ({
  key: `tool:${at}`,
  callId: `call_${at}`,
  name,
  arguments: name === 'shell_exec' ? { command: `echo ${at}` } : { path: `${at}.txt`, content: `text of ${at}` },
  phrase: `${name} ${at}`,
  outcome: 'succeeded',
  startedAt: '2026-01-01T00:00:00Z',
  durationMs: 1,
  output: '',
  preview: name === 'shell_exec' ? `output of ${at}` : '',
  display: null,
  body: null,
  ...more,
})
const given = {
  sessionId: 's',
  computer: {
    status: 'none' as const,
    reason: null,
    hasDesktop: true,
    queuePosition: null,
    isAtOwnLimit: false,
    warning: null,
  },
  filesVersion: 0,
  modelCalls: [],
  hasModelCalls: false,
  ports: [],
  tasks: [],
  kept: [],
  agents: [],
  background: [],
  closable: true,
  isRunning: true,
  usesScreen: false,
  wasStopped: false,
}
const cards = ref<ToolCard[]>([])
const computer = ref<Computer>(given.computer)
const chosen = (): string | null => screen.queryByRole('tab', { selected: true })?.textContent?.trim() ?? null
const timeline = (): HTMLElement => screen.getByRole('slider')

function show() {
  const Card = defineComponent(() => {
    const shown = useShownCall()
    return () => h('button', { onClick: () => shown?.show('tool:1') }, 'the first card')
  })
  const Page = defineComponent(() => {
    const known = computed(() => ({ computer: computer.value }))
    useFollowing(cards, cards, () => true, known)
    return () => [h(Card), h(ComputerPanel, { ...given, computer: computer.value, cards: cards.value })]
  })
  return render(Page, { global: { plugins: [i18n] } })
}
async function begin(...more: ToolCard[]): Promise<void> {
  cards.value = [...cards.value, ...more]
  vi.advanceTimersByTime(250)
  await nextTick()
}

beforeEach(() => {
  vi.useFakeTimers({ shouldAdvanceTime: true })
  localStorage.clear()
  setActivePinia(createPinia())
  startFakeServer({})
  cards.value = [card(1, 'shell_exec'), card(2, 'file_write')]
  computer.value = given.computer
})
afterEach(() => {
  cleanup()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('turns to the tool at work, until a tab is pressed, and again from the button on', async () => {
  show()
  expect(chosen()).toBe('Editor')
  await begin(card(3, 'shell_exec', { outcome: 'running' }))
  expect(chosen()).toBe('Terminal')
  expect(screen.getByText('Following')).toBeTruthy()
  await userEvent.click(screen.getByRole('tab', { name: 'Files' }))
  expect(screen.queryByText('Following')).toBeNull()
  await begin(card(4, 'file_write', { outcome: 'running' }))
  expect(chosen()).toBe('Files')
  await userEvent.click(screen.getByRole('button', { name: 'Follow the agent' }))
  await nextTick()
  expect(chosen()).toBe('Editor')
})
it('watches the browser live on the desktop, and by its last picture once the computer is gone', async () => {
  show()
  computer.value = { ...given.computer, status: 'ready' }
  await begin(card(3, 'browser_navigate', { outcome: 'running' }))
  expect(chosen()).toBe('Desktop')
  expect(screen.getByText('Following')).toBeTruthy()
  computer.value = { ...given.computer, status: 'paused' }
  await begin()
  expect(chosen()).toBe('Browser')
})
it('shows each call as it was by the keys of the timeline, and stays there while others begin', async () => {
  show()
  timeline().focus()
  await userEvent.keyboard('{ArrowLeft}')
  expect(chosen()).toBe('Terminal')
  expect(screen.getByText('output of 1', { exact: false })).toBeTruthy()
  expect(timeline().getAttribute('aria-valuetext')).toContain('1 of 2')
  await begin(card(3, 'file_write', { outcome: 'running' }))
  expect(chosen()).toBe('Terminal')
  expect(timeline().getAttribute('aria-valuenow')).toBe('1')
  await userEvent.keyboard('{ArrowRight}')
  expect(chosen()).toBe('Editor')
  expect(screen.getByText('text of 2')).toBeTruthy()
  await userEvent.keyboard('{End}{Home}')
  expect(timeline().getAttribute('aria-valuenow')).toBe('1')
})
it('shows the call of a card that is pressed', async () => {
  show()
  await userEvent.click(screen.getByRole('button', { name: 'the first card' }))
  expect(usePanel().shownCall).toBe('tool:1')
  expect(chosen()).toBe('Terminal')
  expect(screen.getByRole('button', { name: 'Follow the agent' })).toBeTruthy()
})
it('shows a call that was at work nowhere on the computer in no tab', async () => {
  cards.value = [card(1, 'think', { arguments: { thought: 'what I think' } }), card(2, 'file_write')]
  show()
  timeline().focus()
  await userEvent.keyboard('{ArrowLeft}')
  expect(chosen()).toBeNull()
  expect(screen.getByText('what I think')).toBeTruthy()
})
it('turns no faster than anybody reads, and ends at the tool at work', async () => {
  show()
  expect(chosen()).toBe('Editor')
  for (const [at, name] of ['shell_exec', 'file_write', 'shell_exec'].entries()) {
    cards.value = [...cards.value, card(at + 3, name, { outcome: 'running' })]
    await nextTick()
    expect(chosen()).toBe('Editor')
  }
  vi.advanceTimersByTime(250)
  await nextTick()
  expect(chosen()).toBe('Terminal')
})
it('offers not to leave the desktop for what a run that is over did last', async () => {
  const shown = render(ComputerPanel, { props: { ...given, cards: cards.value }, global: { plugins: [i18n] } })
  const offer = (): HTMLElement | null => screen.queryByRole('button', { name: 'Follow the agent' })
  await userEvent.click(screen.getByRole('tab', { name: 'Desktop' }))
  expect(offer()).toBeTruthy()
  await shown.rerender({ isRunning: false })
  expect(offer()).toBeNull()
  usePanel().showCall('tool:1', 'desktop')
  await nextTick()
  await userEvent.click(offer()!)
  expect(usePanel()).toMatchObject({ shownCall: null, tab: 'desktop', isFollowing: false })
})
