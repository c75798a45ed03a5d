// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { fakeLocks } from '@/shared/testing/fakeLocks'
import { openFakeStream, startFakeServer } from '@/shared/testing/fakeServer'
import { openStream, type StreamHandle, type StreamState } from './stream'
import { dropLogIn } from './tokens'

const REST_MS = 3_000
let visibility: DocumentVisibilityState
let open: Set<AbortSignal>
let handles: StreamHandle[]

beforeEach(() => {
  vi.useFakeTimers()
  dropLogIn()
  ;[visibility, open, handles] = ['visible', new Set(), []]
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() => visibility)
  withLocks(fakeLocks())
  startFakeServer({
    'GET /events': ({ signal }) => {
      if (signal) open.add(signal)
      signal?.addEventListener('abort', () => open.delete(signal))
      return openFakeStream(signal).response
    },
  })
})
afterEach(() => {
  for (const handle of handles) handle.close()
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  withLocks(undefined)
})

function withLocks(locks: unknown): void {
  Object.defineProperty(navigator, 'locks', { configurable: true, value: locks })
}
function follow(hiddenTurn?: string): StreamState[] {
  const states: StreamState[] = []
  const onState = (state: StreamState) => states.push(state)
  const common = { path: '/events', query: () => ({}), onMessage: () => undefined, onState, restHiddenMs: REST_MS }
  handles.push(openStream(hiddenTurn === undefined ? common : { ...common, hiddenTurn }))
  return states
}
async function show(next: DocumentVisibilityState): Promise<void> {
  visibility = next
  document.dispatchEvent(new Event('visibilitychange'))
  await vi.advanceTimersByTimeAsync(REST_MS)
}
async function closeOpen(): Promise<void> {
  const at = handles.findIndex((_, index) => pages[index]?.at(-1) === 'open')
  handles.splice(at, 1)[0]?.close()
  pages.splice(at, 1)
  await vi.advanceTimersByTimeAsync(0)
}
let pages: StreamState[][]

it('are one of each turn, which another page takes over when that one is closed', async () => {
  pages = [follow('feed'), follow('feed'), follow('feed')]
  await vi.advanceTimersByTimeAsync(0)
  expect(open.size).toBe(3)
  await show('hidden')
  expect(open.size).toBe(1)
  expect(pages.map((states) => states.at(-1)).sort()).toEqual(['open', 'resting', 'resting'])
  await closeOpen()
  expect(pages.map((states) => states.at(-1)).sort()).toEqual(['open', 'resting'])
  await show('visible')
  expect(open.size).toBe(2)
  await show('hidden')
  expect(open.size).toBe(1)
})
it('are none without a turn, nor where the browser has no locks', async () => {
  follow()
  await show('hidden')
  expect(open.size).toBe(0)
  withLocks(undefined)
  const states = follow('feed')
  await vi.advanceTimersByTimeAsync(REST_MS)
  expect([open.size, states.at(-1)]).toEqual([0, 'resting'])
})
it('end for a page that was opened in the background, until it is shown', async () => {
  visibility = 'hidden'
  const states = follow()
  await vi.advanceTimersByTimeAsync(REST_MS)
  expect([open.size, states.at(-1)]).toEqual([0, 'resting'])
  await show('visible')
  expect([open.size, states.at(-1)]).toEqual([1, 'open'])
})
it('are not opened again by a page that was hidden while it waited to reconnect', async () => {
  const server = startFakeServer({ 'GET /events': () => new Response(null, { status: 503 }) })
  const states = follow()
  await vi.advanceTimersByTimeAsync(20_000)
  await show('hidden')
  const before = server.calls.length
  await vi.advanceTimersByTimeAsync(60_000)
  expect([server.calls.length, states.at(-1)]).toEqual([before, 'resting'])
})
