// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { json, openFakeStream, problem, startFakeServer, type FakeStream } from '@/shared/testing/fakeServer'
import { useConversation } from './conversation'

const session = { id: 's', title: '', status: 'running', model: null, options: {}, pinned: false, archived: false }
const dated = { ...session, created_at: '', updated_at: '', active_at: '', last_seq: 1, read_seq: 0, unread: 0 }
const run = { at: '', session_id: 's', run_id: 'r', message_id: 'm1', model: 'x', worker: 'w', attempt: 1 }
const started = { ...run, seq: 1, type: 'run.started' }
let isAway: boolean
let stream: FakeStream
let conversation: ReturnType<typeof useConversation>
let server: ReturnType<typeof startFakeServer>
const taken = () => server.calls.filter(({ method }) => method === 'POST').map(({ path }) => path)
const ifThere = (answer: () => Response) => () => (isAway ? problem(503, 'unavailable') : answer())

beforeEach(async () => {
  localStorage.clear()
  setActivePinia(createPinia())
  isAway = false
  server = startFakeServer({
    'GET /sessions/s/state': () => json({ session: dated, sandbox: null, last_seq: 1 }),
    'GET /sessions/s/events?format=json&before=9007199254740992&limit=300&on_path=true': () =>
      json({ items: [started], last_seq: 1, has_more: false }),
    'GET /sessions/s/events': ({ signal }) => ifThere(() => (stream = openFakeStream(signal)).response)(),
    'POST /sessions/s/messages': ifThere(() => json({ message_id: 'm2', run_id: 'r', seq: 3, duplicate: false }, 202)),
    'POST /sessions/s/stop': ifThere(() => json({ run_id: 'r' }, 202)),
  })
  conversation = useConversation()
  await conversation.open('s')
  await vi.waitFor(() => expect(conversation.streamState).toBe('open'))
  vi.useFakeTimers()
})
afterEach(() => {
  conversation.close(true)
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})
function hide(): void {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
  document.dispatchEvent(new Event('visibilitychange'))
}

it('sends what waits once the server is there again, though nobody looks at it and its stream rests', async () => {
  isAway = true
  stream.end()
  await conversation.stop()
  await conversation.send('after that')
  await vi.advanceTimersByTimeAsync(5_000)
  expect(conversation.streamState).toBe('reconnecting')
  hide()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(conversation.streamState).toBe('resting')
  expect(conversation.outbox).toMatchObject([{ text: 'after that', state: 'failed' }])

  isAway = false
  const before = taken().length
  await vi.advanceTimersByTimeAsync(6_000)

  expect(taken().slice(before)).toEqual(['/sessions/s/stop', '/sessions/s/messages'])
})
