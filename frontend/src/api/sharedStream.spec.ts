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
  const seen: string[] = []
  const troubles: (number | null)[] = []
  const handle = openSharedStream(name, {
    path: '/events',
    query: () => ({ after: seen.at(-1) }),
    onMessage: ({ data }) => seen.push(data),
    onState: (_, error) => troubles.push(error && error.status),
  })
  const page = { handle, seen, troubles }
  pages.push(page)
  await tick()
  return page
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
  visibility = 'visible'
  document.dispatchEvent(new Event('visibilitychange'))
  await tick()
  await send('2')
  expect([first.seen, second.seen, behind.seen]).toEqual([
    ['1', '2'],
    ['1', '2'],
    ['1', '2'],
  ])
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
  visibility = 'hidden'
  document.dispatchEvent(new Event('visibilitychange'))
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
