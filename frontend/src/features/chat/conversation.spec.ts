// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { dropLogIn, keepLogIn } from '@/api/tokens'
import type { WireEvent } from '@/api/types'
import { useAuth } from '@/features/auth'
import { grant, json, openFakeStream, problem, startFakeServer, type FakeStream } from '@/shared/testing/fakeServer'
import { useConversation } from './conversation'
import { shownItems } from './order'

const session = {
  id: 's',
  title: '',
  status: 'idle',
  model: null,
  options: {},
  pinned: false,
  archived: false,
  created_at: '',
  updated_at: '',
  active_at: '',
  last_seq: 1,
}
const sandbox = { seq: 1, status: 'none', reason: null, retryable: false, has_desktop: true, expires_at: null }
const user = (seq: number, text: string, clientMessageId: string | null = null) => ({
  seq,
  type: 'message.user',
  at: '',
  session_id: 's',
  run_id: null,
  message_id: `m${seq}`,
  text,
  attachments: [],
  client_message_id: clientMessageId,
})
const frame = (event: { seq: number; type: string }): string =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
let conversation: ReturnType<typeof useConversation>
let streams: FakeStream[] = []
let post: (body: unknown) => Response

beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
  streams = []
  conversation = useConversation()
})
afterEach(() => {
  conversation.close(true)
  vi.unstubAllGlobals()
})
function start() {
  return startFakeServer({
    'GET /sessions/s/state': () => json({ session, sandbox, last_seq: 1 }),
    'GET /sessions/s/events': ({ path, signal }) => {
      if (path.includes('format=json'))
        return json({ items: [user(1, 'earlier') as unknown as WireEvent], last_seq: 1, has_more: false })
      const stream = openFakeStream(signal)
      streams.push(stream)
      return stream.response
    },
    'POST /sessions/s/messages': ({ body }) => post(body),
  })
}
const posts = ({ calls }: ReturnType<typeof start>) => calls.filter(({ method }) => method === 'POST')

describe('a conversation', () => {
  it('opened while an answer is written shows below it what waits for its end', async () => {
    const started = { ...user(2, ''), type: 'run.started', model: 'x' }
    startFakeServer({
      'GET /sessions/s/state': () => json({ session, sandbox, last_seq: 3 }),
      'GET /sessions/s/events': ({ path, signal }) => {
        if (path.includes('format=json'))
          return json({ items: [user(1, 'earlier'), started, user(3, 'and this')], last_seq: 3, has_more: false })
        streams.push(openFakeStream(signal))
        return streams.at(-1)!.response
      },
    })
    await conversation.open('s')
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    const piece = { seq: null, type: 'message.delta', at: '', session_id: 's', run_id: 'r', message_id: 'a' }
    streams[0]!.send(`data: ${JSON.stringify({ ...piece, offset: 0, text: 'half', seen_seq: 1 })}\n\n`)
    await vi.waitFor(() => expect(conversation.transcript.live).toHaveLength(1))
    expect(shownItems(conversation.transcript)).toMatchObject([
      { text: 'earlier' },
      { text: 'half' },
      { text: 'and this' },
    ])
  })
  it('takes a message while it is still being opened, once', async () => {
    let loaded: (answer: Response) => void = () => undefined
    const server = startFakeServer({
      'GET /sessions/s/state': () => new Promise((resolve) => (loaded = resolve)),
      'GET /sessions/s/events': ({ path, signal }) => {
        if (path.includes('format=json')) return json({ items: [user(1, 'earlier')], last_seq: 1, has_more: false })
        const stream = openFakeStream(signal)
        streams.push(stream)
        return stream.response
      },
      'POST /sessions/s/messages': () => json({ seq: 2 }, 202),
    })
    const opening = conversation.open('s')
    await conversation.send('in between')
    loaded(json({ session, sandbox, last_seq: 1 }))
    await opening
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    const sent = server.calls.filter(({ method }) => method === 'POST')
    const ids = sent.map(({ body }) => (body as { client_message_id: string }).client_message_id)
    expect([...new Set(sent.map(({ path }) => path))]).toEqual(['/sessions/s/messages'])
    expect(new Set(ids).size).toBe(1)
    expect(conversation.outbox.map(({ text }) => text)).toEqual(['in between'])
    streams[0]?.send(frame(user(2, 'in between', ids[0] ?? null)))
    await vi.waitFor(() => expect(conversation.outbox).toEqual([]))
  })
  it('shows what was said and follows after it', async () => {
    const server = start()
    await conversation.open('s')
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    expect(server.calls.at(-1)?.path).toBe('/sessions/s/events?after=1')
    streams[0]?.send(frame(user(1, 'earlier')) + frame(user(2, 'later')))
    await vi.waitFor(() => expect(conversation.transcript.items).toHaveLength(2))
  })
  it('keeps a message until it is heard back, and sends it once the server is there again, under the same id', async () => {
    const server = start()
    await conversation.open('s')
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    post = () => new Response('', { status: 503 })
    await conversation.send('hello')
    expect(conversation.outbox).toMatchObject([{ text: 'hello', state: 'failed' }])
    post = () => json({ message_id: 'm2', run_id: 'r', seq: 2, duplicate: false }, 202)
    streams[0]?.end()
    await vi.waitFor(() => expect(conversation.outbox).toMatchObject([{ state: 'sending' }]))
    const sent = posts(server).map((call) => (call.body as { client_message_id: string }).client_message_id)
    expect(new Set(sent).size).toBe(1)
    expect(sent).toHaveLength(2)
    streams[1]?.send(frame(user(2, 'hello', sent[0])))
    await vi.waitFor(() => expect(conversation.outbox).toEqual([]))
  })
  it('sends by itself what a database away refused, also where the stream was never cut', async () => {
    const server = start()
    await conversation.open('s')
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    post = () => problem(503, 'store_unavailable')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      await conversation.send('hello')
      expect(conversation.outbox).toMatchObject([{ state: 'failed' }])
      post = () => json({ message_id: 'm2', run_id: 'r', seq: 2, duplicate: false }, 202)
      await vi.advanceTimersByTimeAsync(3000)
    } finally {
      vi.useRealTimers()
    }
    expect(conversation.outbox).toMatchObject([{ state: 'sending' }])
    const sent = server.calls.filter((call) => call.method === 'POST').map((call) => call.body)
    expect(sent).toHaveLength(2)
    expect(sent[1]).toEqual(sent[0])
  })
  it('sends what waits in a conversation that was left, once the network is back, and what was refused nowhere', async () => {
    const server = start()
    await conversation.open('s')
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    const sent = () => server.calls.filter((call) => call.method === 'POST').map((call) => call.body)
    post = () => problem(429, 'too_many_waiting', 'full')
    await conversation.send('refused')
    post = () => problem(503, 'unavailable')
    await conversation.send('waits')
    conversation.close()
    post = () => json({ message_id: 'm2', run_id: 'r', seq: 2, duplicate: false }, 202)
    window.dispatchEvent(new Event('online'))
    await vi.waitFor(() => expect(sent()).toHaveLength(3))
    expect(sent()[2]).toEqual(sent()[1])
    await conversation.open('s')
    await vi.waitFor(() => expect(streams).toHaveLength(2))
    expect(conversation.outbox).toMatchObject([{ text: 'refused', state: 'failed', problem: 'too_many_waiting' }])
    expect(sent()).toHaveLength(3)
  })
  it('sends nothing of an account that is done here', async () => {
    const server = start()
    await conversation.open('s')
    post = () => problem(503, 'unavailable')
    await conversation.send('waits')
    conversation.close(true)
    window.dispatchEvent(new Event('online'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(server.calls.filter((call) => call.method === 'POST')).toHaveLength(1)
  })
  it('sends nothing as somebody who logged in beside who wrote it', async () => {
    keepLogIn(grant('token', 'anna'))
    useAuth().user = { id: 'anna', username: 'anna', is_admin: false }
    const server = start()
    await conversation.open('s')
    await vi.waitFor(() => expect(conversation.streamState).toBe('open'))
    post = () => problem(503, 'unavailable')
    await conversation.send('private')
    const sent = () => server.calls.filter((call) => call.method === 'POST').length
    localStorage.setItem('log-in', JSON.stringify({ user: 'ben' }))
    window.dispatchEvent(new Event('online'))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(sent()).toBe(1)
    localStorage.setItem('log-in', JSON.stringify({ user: 'anna' }))
    window.dispatchEvent(new Event('online'))
    await vi.waitFor(() => expect(sent()).toBe(2))
    dropLogIn()
  })
  it('sends what a page of before kept without an account, once the conversation is open', async () => {
    const server = start()
    localStorage.setItem(
      'outbox:s',
      '[{"clientMessageId": "id", "text": "left", "attachments": [], "state": "sending"}]',
    )
    await conversation.open('s')
    await vi.waitFor(() => expect(posts(server)).toMatchObject([{ body: { text: 'left', client_message_id: 'id' } }]))
  })
  it('cuts in under one id, also when it has to be sent again after a reload', async () => {
    const server = start()
    await conversation.open('s')
    await vi.waitFor(() => expect(streams).toHaveLength(1))
    post = () => new Response('', { status: 503 })
    await conversation.send('not that', [], true)
    conversation.close()
    post = () => json({ message_id: 'm2', run_id: 'r', seq: 2, duplicate: false }, 202)
    await conversation.open('s')
    const sent = () => server.calls.filter((call) => call.method === 'POST').map((call) => call.body)
    await vi.waitFor(() => expect(sent()).toHaveLength(2))
    expect(sent()[1]).toEqual(sent()[0])
    expect(sent()[0]).toMatchObject({ text: 'not that', interrupt: true })
  })
  it('is not here any more once it was deleted elsewhere', async () => {
    start()
    await conversation.open('s')
    conversation.leave()
    expect(conversation.phase).toBe('missing')
  })
})
