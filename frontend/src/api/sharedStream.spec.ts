// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { fakeChannels, fakeLocks } from '@/shared/testing/fakeLocks'
import { openFakeStream, problem, startFakeServer, type FakeStream } from '@/shared/testing/fakeServer'
import { openSharedStream } from './sharedStream'
import type { StreamHandle } from './stream'
import { dropLogIn } from './tokens'

interface Page {
  readonly handle: StreamHandle
  readonly seen: string[]
  readonly troubles: (number | null)[]
  /** How often it has connected by itself. */
  asks: number
}
let visibility: DocumentVisibilityState
let open: FakeStream[]
let pages: Page[]
let refused: Response | null
const asked = () => server.calls.map(({ path }) => path)
let server: ReturnType<typeof startFakeServer>

beforeEach(() => {
  vi.useFakeTimers()
  dropLogIn()
  ;[visibility, open, pages, refused] = ['visible', [], [], null]
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() => visibility)
  vi.stubGlobal('BroadcastChannel', fakeChannels())
  withLocks(fakeLocks())
  server = startFakeServer({
    'GET /events': ({ signal }) => {
      if (refused) return refused.clone()
      const stream = openFakeStream(signal)
      open.push(stream)
      signal?.addEventListener('abort', () => (open = open.filter((one) => one !== stream)))
      return stream.response
    },
  })
})
afterEach(() => {
  for (const { handle } of pages) handle.close()
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  withLocks(undefined)
})

function withLocks(locks: unknown): void {
  Object.defineProperty(navigator, 'locks', { configurable: true, value: locks })
}
async function tick(ms = 0): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}
async function openPage(seenAs: DocumentVisibilityState = 'visible', name = 'feed'): Promise<Page> {
  visibility = seenAs
  const shown = { seen: [] as string[], troubles: [] as (number | null)[], asks: 0 }
  const handle = openSharedStream(name, {
    path: '/events',
    query: () => {
      shown.asks += 1
      return { after: shown.seen.at(-1) }
    },
    onMessage: ({ data }) => shown.seen.push(data),
    onState: (_, error) => shown.troubles.push(error && error.status),
  })
  const page = Object.assign(shown, { handle })
  pages.push(page)
  await tick()
  return page
}
async function look(next: DocumentVisibilityState): Promise<void> {
  visibility = next
  document.dispatchEvent(new Event('visibilitychange'))
  await tick()
}
async function send(data: string): Promise<void> {
  expect(open).toHaveLength(1)
  open[0]?.send(`data: ${data}\n\n`)
  await tick()
}

it('tells all pages over the connection of the one that was shown last', async () => {
  const [first, second, behind] = [await openPage(), await openPage(), await openPage('hidden')]
  await send('1')
  expect([first.seen, second.seen, behind.seen]).toEqual([['1'], ['1'], ['1']])
  await look('visible')
  await send('2')
  expect([first.seen, second.seen, behind.seen]).toEqual([
    ['1', '2'],
    ['1', '2'],
    ['1', '2'],
  ])
})
it('is taken over by a page once that is shown, and by none that is hidden', async () => {
  const [first, behind] = [await openPage(), await openPage('hidden')]
  await look('hidden')
  expect([first.asks, behind.asks]).toEqual([1, 0])
  await look('visible')
  expect([first.asks, behind.asks]).toEqual([1, 1])
})
it('is followed by no page that was closed while it waited for it', async () => {
  const [first, behind] = [await openPage(), await openPage('hidden')]
  behind.handle.close()
  first.handle.close()
  await tick()
  expect([open, behind.asks]).toEqual([[], 0])
  const next = await openPage('hidden')
  expect(next.asks).toBe(1)
})
it('loses nothing that another page tells while it has it, but tells its own state', async () => {
  const page = await openPage()
  const other = new BroadcastChannel('feed')
  other.postMessage({ message: { event: 'message', data: 'of the one before' } })
  other.postMessage({ state: 'reconnecting', error: { status: 429, code: 'too_many' } })
  expect(page.seen).toEqual(['of the one before'])
  expect(page.troubles.at(-1)).toBeNull()
})
it('goes on where it was when the page that had it is gone', async () => {
  const [first, second] = [await openPage(), await openPage()]
  await send('7')
  second.handle.close()
  await tick()
  expect(asked().at(-1)).toBe('/events?after=7')
  await send('8')
  expect([first.seen, second.seen]).toEqual([['7', '8'], ['7']])
  first.handle.close()
  await tick()
  expect(open).toEqual([])
})
it('tells the others of what keeps it from going on', async () => {
  const [first, second] = [await openPage(), await openPage()]
  refused = problem(429, 'too_many')
  second.handle.reconnect()
  await tick(1_000)
  expect([first.troubles.at(-1), second.troubles.at(-1)]).toEqual([429, 429])
})
it('is taken over by a page whose person asks for it', async () => {
  const [first] = [await openPage(), await openPage()]
  await send('1')
  const before = asked().length
  first.handle.reconnect()
  await tick()
  expect(asked().slice(before)).toEqual(['/events?after=1'])
  await send('2')
  expect(first.seen).toEqual(['1', '2'])
})
it('is nothing that pages of two accounts share', async () => {
  const [mine, other] = [await openPage('visible', 'feed:a'), await openPage('visible', 'feed:b')]
  expect(open).toHaveLength(2)
  open[0]?.send('data: 1\n\n')
  await tick()
  expect([mine.seen, other.seen]).toEqual([['1'], []])
})
it('is one for each page where the browser has no locks, and rests with a hidden one', async () => {
  withLocks(undefined)
  await openPage()
  await openPage()
  expect(open).toHaveLength(2)
  await look('hidden')
  await tick(60_000)
  expect(open).toHaveLength(0)
})
it.each([
  ['locks', () => withLocks({ request: () => Promise.reject(new DOMException('denied', 'SecurityError')) })],
  ['channels', () => vi.stubGlobal('BroadcastChannel', undefined)],
])('is there too where the browser refuses %s', async (_, refuse) => {
  refuse()
  const page = await openPage()
  await send('1')
  expect(page.seen).toEqual(['1'])
  page.handle.close()
  await tick()
  expect(open).toEqual([])
})
