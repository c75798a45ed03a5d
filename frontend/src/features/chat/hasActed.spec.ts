// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { json, openFakeStream, startFakeServer, type FakeStream } from '@/shared/testing/fakeServer'
import { useConversation } from './conversation'

afterEach(() => vi.unstubAllGlobals())

const head = { at: '', session_id: 's', run_id: 'r', call_id: 'c' }
const called = {
  ...head,
  seq: 1,
  type: 'tool.called',
  name: 'shell_exec',
  arguments: {},
  phrase: '',
  asks: false,
  needs_computer: true,
}
const finished = { ...head, seq: 2, type: 'tool.finished', success: true, preview: '', body: null }
const frame = (event: { seq: number; type: string }): string =>
  `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

async function opened(before: object[]) {
  setActivePinia(createPinia())
  const streams: FakeStream[] = []
  startFakeServer({
    'GET /sessions/s/state': () => json({ session: { id: 's', last_seq: 0 }, sandbox: null, last_seq: before.length }),
    'GET /sessions/s/events': ({ path, signal }) => {
      if (path.includes('format=json')) return json({ items: before, last_seq: before.length, has_more: false })
      streams.push(openFakeStream(signal))
      return streams.at(-1)!.response
    },
  })
  const conversation = useConversation()
  await conversation.open('s')
  await vi.waitFor(() => expect(streams).toHaveLength(1))
  return { conversation, stream: streams[0]! }
}

it('knows that the agent acted also where a call was over before it could be shown', async () => {
  const { conversation, stream } = await opened([])
  stream.send(frame(called) + frame(finished))
  await vi.waitFor(() => expect(conversation.transcript.items).toMatchObject([{ outcome: 'succeeded' }]))
  expect(conversation.hasActed).toBe(true)
  conversation.close(true)
  expect(conversation.hasActed).toBe(false)
})

it('does not count a call that needs no computer', async () => {
  const { conversation, stream } = await opened([])
  const thought = { ...called, needs_computer: false }
  stream.send(frame(thought) + frame(finished))
  await vi.waitFor(() => expect(conversation.transcript.items).toMatchObject([{ outcome: 'succeeded' }]))
  expect(conversation.hasActed).toBe(false)
  conversation.close(true)
})

it('takes no call from before for one of now', async () => {
  const { conversation } = await opened([called, finished])
  expect(conversation.transcript.items).toHaveLength(1)
  expect(conversation.hasActed).toBe(false)
  conversation.close(true)
})
