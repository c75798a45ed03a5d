// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { openFakeStream, startFakeServer } from '@/shared/testing/fakeServer'
import { openStream, type StreamHandle, type StreamState } from './stream'
import { dropLogIn } from './tokens'

const REST_MS = 3_000
let visibility: DocumentVisibilityState
let handle: StreamHandle

beforeEach(() => {
  vi.useFakeTimers()
  dropLogIn()
  visibility = 'visible'
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() => visibility)
})
afterEach(() => {
  handle.close()
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

function follow(): StreamState[] {
  const states: StreamState[] = []
  const onState = (state: StreamState) => states.push(state)
  handle = openStream({ path: '/events', query: () => ({}), onMessage: () => 0, onState, restHiddenMs: REST_MS })
  return states
}
async function show(next: DocumentVisibilityState): Promise<void> {
  visibility = next
  document.dispatchEvent(new Event('visibilitychange'))
  await vi.advanceTimersByTimeAsync(REST_MS)
}

it('rests for a page that was opened in the background, until it is shown', async () => {
  startFakeServer({ 'GET /events': ({ signal }) => openFakeStream(signal).response })
  visibility = 'hidden'
  const states = follow()
  await vi.advanceTimersByTimeAsync(REST_MS)
  expect(states.at(-1)).toBe('resting')
  await show('visible')
  expect(states.at(-1)).toBe('open')
})
it('asks no more for a page that was hidden while it waited to reconnect', async () => {
  const server = startFakeServer({ 'GET /events': () => new Response(null, { status: 503 }) })
  const states = follow()
  await vi.advanceTimersByTimeAsync(20_000)
  await show('hidden')
  const before = server.calls.length
  await vi.advanceTimersByTimeAsync(60_000)
  expect([server.calls.length, states.at(-1)]).toEqual([before, 'resting'])
})
