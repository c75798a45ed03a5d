// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { BackgroundCommand } from '@/features/background'
import { useConversation } from '@/features/chat'
import { i18n } from '@/i18n'
import { startFakeServer } from '@/shared/testing/fakeServer'
import { useRunState } from './useRunState'

const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: {} }] })
const Bar = defineComponent(() => {
  const { state } = useRunState(() => 'A title')
  return () => h('p', { role: 'status' }, state.value)
})
const command = (id: string, state: BackgroundCommand['state']): BackgroundCommand => ({
  id,
  command: 'make',
  startedAt: '2026-01-01T00:00:00Z',
  timeoutS: 300,
  state,
  exitCode: null,
  preview: '',
  durationMs: null,
  bodySeq: null,
})

beforeEach(() => {
  setActivePinia(createPinia())
  startFakeServer({})
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

it('tells of what still runs in the background once the answer is there', async () => {
  render(Bar, { global: { plugins: [i18n, router] } })
  const conversation = useConversation()
  const said = async (status: 'completed' | 'stopped', ...background: BackgroundCommand[]) => {
    conversation.transcript = { ...conversation.transcript, run: { status } as never, background }
    await nextTick()
    return screen.getByRole('status').textContent
  }
  expect(await said('completed', command('a', 'ended'))).toBe('Done')
  expect(await said('completed', command('a', 'running'), command('b', 'running'), command('c', 'ended'))).toBe(
    'Done · 2 in the background',
  )
  expect(await said('stopped', command('a', 'running'))).toBe('Stopped')
})
it('says that it reconnects, and nothing else, while the server can’t be reached', async () => {
  vi.useFakeTimers()
  render(Bar, { global: { plugins: [i18n, router] } })
  const conversation = useConversation()
  conversation.transcript = { ...conversation.transcript, run: { status: 'running' } as never }
  conversation.phase = 'ready'
  await nextTick()
  expect(screen.getByRole('status').textContent).toBe('Thinking')
  conversation.streamState = 'reconnecting'
  await vi.advanceTimersByTimeAsync(1000)
  expect(screen.getByRole('status').textContent).toBe('Reconnecting')
  conversation.streamState = 'open'
  await nextTick()
  expect(screen.getByRole('status').textContent).toBe('Thinking')
  vi.useRealTimers()
})
