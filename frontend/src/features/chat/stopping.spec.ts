// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { useSessions } from '@/features/sessions'
import { json, openFakeStream, problem, startFakeServer, type FakeStream } from '@/shared/testing/fakeServer'
import { stopsOf } from '@/shared/lib/storage'
import { useConversation } from './conversation'
import { keepOutbox } from './outbox'

const session = {
  id: 's',
  title: '',
  status: 'running' as const,
  model: null,
  options: {},
  pinned: false,
  archived: false,
  created_at: '',
  updated_at: '',
  active_at: '',
  last_seq: 1,
  preset: 'general',
  read_seq: 0,
  unread: 0,
  failed: false,
  sandbox: null,
}
const run = { at: '', session_id: 's', run_id: 'r', message_id: 'm1', model: 'x', worker: 'w', attempt: 1 }
const started = { ...run, seq: 1, type: 'run.started' }
const usage = { input: 0, cached: 0, output: 0, thinking: 0, cache_write: 0, cost: null, known_cost: 0, by_model: {} }
const end = { ...run, seq: 2, type: 'run.finished', status: 'stopped', reason: null, retryable: false, usage }
const frame = (event: { seq: number; type: string }): string =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const taken = (): Response => json({ run_id: 'r' }, 202)
const stored = (): Response => json({ message_id: 'm2', run_id: 'r2', seq: 3, duplicate: false }, 202)
const away = (): Response => problem(503, 'unavailable')
let conversation: ReturnType<typeof useConversation>
let streams: FakeStream[]
let stop: () => Response | Promise<Response>
let post: () => Response
let state: () => Response | Promise<Response>

beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
  streams = []
  stop = taken
  post = away
  state = () => json({ session, sandbox: null, last_seq: 1 })
  conversation = useConversation()
})
afterEach(() => {
  conversation.close(true)
  vi.unstubAllGlobals()
})
function start() {
  return startFakeServer({
    'GET /sessions/s/state': () => state(),
    'GET /sessions/s/events': ({ path, signal }) => {
      if (path.includes('format=json')) return json({ items: [started], last_seq: 1, has_more: false })
      streams.push(openFakeStream(signal))
      return streams.at(-1)!.response
    },
    'POST /sessions/s/messages': () => post(),
    'POST /sessions/s/stop': () => stop(),
  })
}
async function opened() {
  const server = start()
  await conversation.open('s')
  await vi.waitFor(() => expect(conversation.streamState).toBe('open'))
  return server
}
const posted = ({ calls }: ReturnType<typeof start>): string[] =>
  calls.filter(({ method }) => method === 'POST').map(({ path }) => path)

describe('a stop', () => {
  it('stands from the press until the run has ended', async () => {
    await opened()
    const pressed = conversation.stop()
    expect(conversation.isStopping).toBe(true)
    await pressed
    expect(conversation.isStopping).toBe(true)
    streams[0]?.send(frame({ ...end, files: [], duration_ms: 1 } as { seq: number; type: string }))
    await vi.waitFor(() => expect(conversation.isStopping).toBe(false))
    expect(conversation.isRunning).toBe(false)
  })
  it('goes before what was written after it', async () => {
    const server = await opened()
    stop = away
    await conversation.stop()
    expect([conversation.isStopping, conversation.isStopHeld]).toEqual([true, true])
    await conversation.send('and then this')
    const before = server.calls.length
    let accept: () => void = () => undefined
    stop = () => new Promise((resolve) => (accept = () => resolve(taken())))
    post = stored
    streams[0]?.end()
    const sent = () => server.calls.slice(before).filter(({ method }) => method === 'POST')
    await vi.waitFor(() => expect(sent()).toHaveLength(1))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(sent()).toHaveLength(1)
    accept()
    await vi.waitFor(() => expect(sent()).toHaveLength(2))
    expect(sent().map(({ path }) => path)).toEqual(['/sessions/s/stop', '/sessions/s/messages'])
    expect(sent()[0]?.body).toEqual({ run_id: 'r' })
    expect(conversation.isStopHeld).toBe(false)
  })
  it('is overtaken by nothing that is written while it is on its way', async () => {
    const server = await opened()
    let accept: () => void = () => undefined
    stop = () => new Promise((resolve) => (accept = () => resolve(taken())))
    post = stored
    const stopping = conversation.stop()
    await conversation.send('and then this')
    expect(posted(server)).toEqual(['/sessions/s/stop'])
    accept()
    await stopping
    await vi.waitFor(() => expect(posted(server)).toEqual(['/sessions/s/stop', '/sessions/s/messages']))
  })
  it('that a former page left goes before the messages that it left', async () => {
    localStorage.setItem(`${stopsOf('')}s`, 'r')
    keepOutbox({ account: '', sessionId: 's' }, [
      { clientMessageId: 'm2', text: 'left', attachments: [], state: 'sending' },
    ])
    let accept: () => void = () => undefined
    stop = () => new Promise((resolve) => (accept = () => resolve(taken())))
    post = stored
    const server = await opened()
    expect(posted(server)).toEqual(['/sessions/s/stop'])
    accept()
    await vi.waitFor(() => expect(posted(server)).toEqual(['/sessions/s/stop', '/sessions/s/messages']))
  })
  it('is over with its run, also one that waits, and what was written after it goes', async () => {
    const server = await opened()
    stop = away
    await conversation.stop()
    await conversation.send('and then this')
    post = stored
    streams[0]?.send(frame({ ...end, files: [], duration_ms: 1 } as { seq: number; type: string }))
    await vi.waitFor(() => expect(posted(server)).toEqual(['/sessions/s/stop', '/sessions/s/messages']))
    expect(conversation.isStopping).toBe(false)
  })
  it('that was refused lets go what was written after it, and is forgotten with its run', async () => {
    const server = await opened()
    let refuse: () => void = () => undefined
    stop = () => new Promise((resolve) => (refuse = () => resolve(problem(500, 'internal'))))
    post = stored
    const stopping = conversation.stop()
    await conversation.send('and then this')
    refuse()
    await stopping
    await vi.waitFor(() => expect(posted(server)).toEqual(['/sessions/s/stop', '/sessions/s/messages']))
    expect(conversation.stopProblem).not.toBeNull()
    streams[0]?.send(frame({ ...end, files: [], duration_ms: 1 } as { seq: number; type: string }))
    await vi.waitFor(() => expect(conversation.stopProblem).toBeNull())
  })
  it('that was refused says why, until it is asked for again', async () => {
    await opened()
    stop = () => problem(500, 'internal')
    await conversation.stop()
    expect(conversation.isStopping).toBe(false)
    expect(conversation.stopProblem).toMatchObject({ code: 'internal' })
    stop = taken
    await conversation.stop()
    expect([conversation.isStopping, conversation.stopProblem]).toEqual([true, null])
  })
  it('may be asked for while the conversation is being opened, as the list says that it works', async () => {
    let answer: () => void = () => undefined
    state = () => new Promise((resolve) => (answer = () => resolve(json({ session, sandbox: null, last_seq: 1 }))))
    const server = start()
    useSessions().keep(session)
    const opening = conversation.open('s')
    expect(conversation.isRunning).toBe(true)
    await conversation.stop()
    expect(conversation.isStopping).toBe(true)
    answer()
    await opening
    const stopped = server.calls.filter(({ path }) => path === '/sessions/s/stop').map(({ body }) => body)
    expect(stopped).toEqual([{ run_id: 'r' }])
    expect(conversation.isStopping).toBe(true)
  })
  it('does not stand where the conversation could not be opened', async () => {
    let answer: () => void = () => undefined
    state = () => new Promise((resolve) => (answer = () => resolve(problem(500, 'internal'))))
    start()
    useSessions().keep(session)
    const opening = conversation.open('s')
    await conversation.stop()
    answer()
    await opening
    expect([conversation.phase, conversation.isStopping]).toEqual(['failed', false])
  })
})
