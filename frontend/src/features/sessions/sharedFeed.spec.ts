// @vitest-environment happy-dom
import { createPinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Session } from '@/api/types'
import { fakeChannels, fakeLocks } from '@/shared/testing/fakeLocks'
import { json, openFakeStream, startFakeServer, type FakeStream } from '@/shared/testing/fakeServer'
import { useSessions } from './store'

const fields = { status: 'idle', model: null, preset: 'general', options: {}, pinned: false, archived: false } as const
const session = (id: string, day: number): Session => {
  const at = `2026-01-0${day}T00:00:00Z`
  const times = { created_at: at, updated_at: at, active_at: at }
  return { ...fields, ...times, id, title: id, last_seq: 1, read_seq: 0, unread: 0, failed: false, sandbox: null }
}
const at = '2026-01-09T00:00:00Z'
let listed: Session[]
let next: string | null
let streams: FakeStream[]
let pages: ReturnType<typeof useSessions>[]
let lists: number
/** What a stream begins with; null for one that says nothing. */
let begins: number | null
let afters: (string | null)[]

beforeEach(() => {
  ;[listed, next, streams, pages] = [[session('b', 2), session('a', 1)], null, [], []]
  ;[lists, begins, afters] = [0, 1, []]
  vi.stubGlobal('BroadcastChannel', fakeChannels())
  Object.defineProperty(navigator, 'locks', { configurable: true, value: fakeLocks() })
  startFakeServer({
    'GET /sessions': ({ path }) => {
      lists += 1
      return json(
        path.includes('cursor=')
          ? { items: [session('a', 1)], next_cursor: null }
          : { items: listed, next_cursor: next },
      )
    },
    'GET /events': ({ path, signal }) => {
      const stream = openFakeStream(signal)
      streams.push(stream)
      const after = new URLSearchParams(path.split('?')[1]).get('after')
      afters.push(after)
      if (after === null && begins !== null) tell({ type: 'feed.started', seq: begins })
      signal?.addEventListener('abort', () => (streams = streams.filter((one) => one !== stream)))
      return stream.response
    },
  })
})
afterEach(() => {
  for (const page of pages) page.unfollow()
  Object.defineProperty(navigator, 'locks', { configurable: true, value: undefined })
  vi.unstubAllGlobals()
})
async function openPage(account: string): Promise<ReturnType<typeof useSessions>> {
  const page = useSessions(createPinia())
  page.follow(account)
  pages.push(page)
  await vi.waitFor(() => expect(page.isLoaded).toBe(true))
  return page
}
const ids = (page: ReturnType<typeof useSessions>) => page.list.map(({ id }) => id)
function tell(event: object): void {
  streams.at(-1)?.send(`data: ${JSON.stringify({ at, ...event })}\n\n`)
}

it('is of one account: pages of two in one browser have a stream each', async () => {
  await openPage('ann')
  await openPage('ben')
  await vi.waitFor(() => expect(streams).toHaveLength(2))
  await openPage('ben')
  await vi.waitFor(() => expect(streams).toHaveLength(2))
})
it('forgets what was deleted while nobody told of it, when another page begins to follow', async () => {
  const page = await openPage('ann')
  await vi.waitFor(() => expect(ids(page)).toEqual(['b', 'a']))

  listed = [session('b', 2)]
  begins = 9
  await openPage('ann')

  await vi.waitFor(() => expect(ids(page)).toEqual(['b']))
})
it('takes no answer that comes after the log-out for a list of whoever logs in next', async () => {
  next = 'more'
  const page = await openPage('ann')
  const asked = [page.load(), page.loadMore()]
  page.unfollow()
  await Promise.all(asked)
  expect(ids(page)).toEqual([])
})
it('keeps what is older than all that the server listed', async () => {
  listed = [session('b', 2)]
  next = 'more'
  const page = await openPage('ann')
  await page.loadMore()
  listed = [session('c', 3)]
  await page.load()
  expect(ids(page)).toEqual(['c', 'b', 'a'])
  listed = [session('c', 3), session('a', 1)]
  await page.load()
  expect(ids(page)).toEqual(['c', 'a'])
})
it('is read once when a page begins, when its feed has begun, and goes on after a cut where it was', async () => {
  const page = await openPage('ann')
  await vi.waitFor(() => expect(streams).toHaveLength(1))
  tell({ type: 'session.updated', seq: 2, session_id: 'a', title: 'Told', last_seq: 2, updated_at: at })
  await vi.waitFor(() => expect(page.byId.get('a')?.title).toBe('Told'))
  expect(lists).toBe(1)

  streams[0]?.end()
  await vi.waitFor(() => expect(afters).toEqual([null, '2']))
  tell({ type: 'session.deleted', seq: 3, session_id: 'b' })
  await vi.waitFor(() => expect(ids(page)).toEqual(['a']))
  expect(lists).toBe(1)
})
it('is read without a feed where none begins, and once more when it does', async () => {
  begins = null
  const page = useSessions(createPinia())
  pages.push(page)
  page.follow('ann')
  await vi.waitFor(() => expect(streams).toHaveLength(1))
  expect(lists).toBe(0)
  await vi.waitFor(() => expect(ids(page)).toEqual(['b', 'a']), { timeout: 4_000 })
  listed = [session('b', 2)]
  tell({ type: 'feed.started', seq: 4 })
  await vi.waitFor(() => expect(ids(page)).toEqual(['b']))
  expect(lists).toBe(2)
})
