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

it('says that a teammate waits for a computer, and that the agent thinks once it is there', async () => {
  const call = {
    ...base,
    type: 'tool.called',
    arguments: {},
    phrase: '',
    parent_call_id: null,
    asks: false,
    seen_seq: 0,
  }
  const done = { ...base, seq: 4, type: 'tool.finished', call_id: 't', success: true, preview: '', body: null }
  const amy = { type: 'teammate.updated', agent_id: 'a', name: 'amy', role: '', status: 'working', reason: null }
  const limit = { queue_position: 1, queue_reason: 'user_limit', has_desktop: false, reason: null, expires_at: null }
  const computer = { ...base, seq: 7, type: 'sandbox.updated', status: 'starting', ...limit }
  const events = [
    queued('message'),
    started,
    { ...call, seq: 3, call_id: 't', name: 'spawn_teammate', needs_computer: false },
    { ...done, cancelled: false, duration_ms: 1, display: null },
    { ...base, seq: 5, ...amy, parent_call_id: 't', prompt: 'dig', detail: null },
    { ...call, seq: 6, agent_id: 'a', call_id: 'w', name: 'shell_exec', needs_computer: true },
    computer,
  ]
  const { container } = await show(events)
  expect(container.textContent).toBe('All your computers are in use: waiting for one of them')
  expect(useConversation().activity.kind).toBe('working')
  cleanup()
  useConversation().close(true)
  const there = { seq: 8, status: 'ready', queue_position: null, queue_reason: null }
  expect((await show([...events, { ...computer, ...there }])).container.textContent).toBe('Thinking')
})

it('says that the provider is waited for, as long as it is', async () => {
  const { container, stream } = await show([queued('message'), started])
  await vi.waitFor(() => expect(stream()).toBeTruthy())
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
  const tell = (fields: object) => {
    stream()?.send(`data: ${JSON.stringify({ ...base, seq: null, ...fields })}\n\n`)
  }
  const until = async (text: string) => {
    for (let tries = 0; tries < 400 && container.textContent !== text; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 5))
    expect(container.textContent).toBe(text)
  }
  const retry = { type: 'llm.retry', code: 'model_rate_limit', attempt: 2, most: 4, wait_s: 3.2 }
  tell(retry)
  await until('The model’s provider is busy: trying again in 4 s')
  vi.advanceTimersByTime(2000)
  await nextTick()
  expect(container.textContent).toBe('The model’s provider is busy: trying again in 2 s')
  vi.advanceTimersByTime(2000)
  await nextTick()
  expect(container.textContent).toBe('Thinking')
  tell({ ...retry, code: 'model_unavailable', attempt: 3, wait_s: 30 })
  await until('The model’s provider does not answer: trying again in 30 s')
  tell({ type: 'thinking.delta', message_id: 'm', offset: 0, text: 'so', seen_seq: 1 })
  await until('')
  expect(useConversation().transcript.retry).toBeNull()
})

it('says that something is prepared once a text stands still', async () => {
  const { container, stream } = await show([queued('message'), started])
  await vi.waitFor(() => expect(stream()).toBeTruthy())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
  const say = async (offset: number, text: string) => {
    const delta = { ...base, seq: null, type: 'message.delta', message_id: 'm', offset, text, seen_seq: 1 }
    stream()?.send(`data: ${JSON.stringify(delta)}\n\n`)
    const whole = 'So'.slice(0, offset) + text
    await vi.waitFor(() => expect(useConversation().live[0]).toMatchObject({ text: whole }))
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

it('says nothing of what goes on while the server can’t be reached', async () => {
  const { container } = await show([queued('message'), started])
  const conversation = useConversation()
  conversation.isCutOff = true
  await nextTick()
  expect(container.textContent).toBe('')
  conversation.isCutOff = false
  await nextTick()
  expect(container.textContent).toBe('Thinking')
})

it('says that a stop that can’t be sent is kept, and goes once the server is there', async () => {
  const { container } = await show([queued('message'), started])
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')))
  await useConversation().stop()
  await nextTick()
  expect(container.textContent).toBe('Stopping: the agent stops when the server can be reached')
  vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false)
  window.dispatchEvent(new Event('offline'))
  await nextTick()
  expect(container.textContent).toBe('Stopping: the agent stops when you are back online')
  vi.restoreAllMocks()
  window.dispatchEvent(new Event('online'))
})
