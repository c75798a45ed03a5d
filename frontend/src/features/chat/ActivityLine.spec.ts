// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { nextTick } from 'vue'
import { afterEach, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, openFakeStream, startFakeServer } from '@/shared/testing/fakeServer'
import ActivityLine from './ActivityLine.vue'
import { useConversation } from './conversation'

const base = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const queued = (cause: string) => ({ ...base, seq: 1, type: 'run.queued', message_id: null, cause })
const started = { ...base, seq: 2, type: 'run.started', model: 'x', message_id: 'u1', worker: 'w', attempt: 1 }

afterEach(() => {
  cleanup()
  useConversation().close(true)
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

async function show(items: readonly object[]) {
  const pinia = createPinia()
  setActivePinia(pinia)
  let stream: ReturnType<typeof openFakeStream> | undefined
  startFakeServer({
    'GET /sessions/s/state': () => json({ session: { id: 's', title: '' }, sandbox: null, last_seq: items.length }),
    'GET /sessions/s/events': ({ path, signal }) => {
      if (path.includes('format=json')) return json({ items, last_seq: items.length, has_more: false })
      stream = openFakeStream(signal)
      return stream.response
    },
  })
  await useConversation().open('s')
  const { container } = render(ActivityLine, { global: { plugins: [i18n, pinia] } })
  return { container, stream: () => stream }
}

it('says that the conversation is summed up where a run does that alone', async () => {
  const { container } = await show([queued('compact'), started])
  expect(container.textContent).toBe('Summing up the conversation')
  cleanup()
  useConversation().close(true)
  expect((await show([queued('message'), started])).container.textContent).toBe('Thinking')
})

it('says that something is prepared once a text stands still', async () => {
  const { container, stream } = await show([queued('message'), started])
  await vi.waitFor(() => expect(stream()).toBeTruthy())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  const say = async (offset: number, text: string) => {
    const delta = { ...base, seq: null, type: 'message.delta', message_id: 'm', offset, text, seen_seq: 1 }
    stream()?.send(`data: ${JSON.stringify(delta)}\n\n`)
    const whole = 'So'.slice(0, offset) + text
    await vi.waitFor(() => expect(useConversation().transcript.live[0]).toMatchObject({ text: whole }))
    await nextTick()
  }
  await say(0, 'So')
  expect(container.textContent).toBe('')
  vi.advanceTimersByTime(1500)
  await say(2, ', here')
  vi.advanceTimersByTime(1500)
  await nextTick()
  expect(container.textContent).toBe('')
  vi.advanceTimersByTime(1000)
  await nextTick()
  expect(container.textContent).toBe('Preparing the next step')
})
