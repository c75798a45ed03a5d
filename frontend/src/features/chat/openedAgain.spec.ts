// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { json, openFakeStream, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { useConversation } from './conversation'
import { LATER_MS } from './outbox'

const event = { at: '', session_id: 's', run_id: null }
const said = { ...event, seq: 1, type: 'message.user', message_id: 'm', text: 'earlier', attachments: [] }

afterEach(() => {
  useConversation().close(true)
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('opens a conversation once the server is there again, and no other one for it', async () => {
  localStorage.clear()
  setActivePinia(createPinia())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let isAway = true
  let streams = 0
  const { calls } = startFakeServer({
    'GET /sessions/s/state': () =>
      isAway ? problem(503, 'unavailable') : json({ session: { id: 's' }, sandbox: null, last_seq: 1 }),
    'GET /sessions/s/events': ({ path, signal }) => {
      if (path.includes('format=json')) return json({ items: [said], last_seq: 1, has_more: false })
      streams += 1
      return openFakeStream(signal).response
    },
  })
  const conversation = useConversation()
  await conversation.open('s')
  await vi.advanceTimersByTimeAsync(LATER_MS)
  expect(conversation.phase).toBe('failed')
  isAway = false
  await vi.advanceTimersByTimeAsync(LATER_MS)
  expect([conversation.phase, streams]).toEqual(['ready', 1])

  isAway = true
  await conversation.open('s')
  conversation.close()
  const before = calls.length
  await vi.advanceTimersByTimeAsync(2 * LATER_MS)
  expect(calls.length).toBe(before)
})
