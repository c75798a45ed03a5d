// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { grant, json, openFakeStream, problem, startFakeServer, type FakeStream } from '@/shared/testing/fakeServer'
import { openStream, type StreamHandle, type StreamState } from './stream'
import { dropLogIn, keepLogIn } from './tokens'

let handle: StreamHandle | null = null
beforeEach(() => {
  vi.useFakeTimers()
  dropLogIn()
})
afterEach(() => {
  handle?.close()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function follow(answer?: () => Response) {
  const streams: FakeStream[] = []
  const server = startFakeServer({
    'GET /events': ({ signal }) => {
      if (answer) return answer()
      const stream = openFakeStream(signal)
      streams.push(stream)
      return stream.response
    },
  })
  const seen: string[] = []
  const states: StreamState[] = []
  let last = 0
  handle = openStream({
    path: '/events',
    query: () => ({ after: last }),
    onMessage: (message) => {
      seen.push(message.data)
      last = Number(message.id ?? last)
    },
    onState: (state) => states.push(state),
    random: () => 1,
  })
  return { streams, seen, states, server }
}
const tick = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

describe('openStream', () => {
  it('asks after what it has seen when the connection ends', async () => {
    const { streams, seen, server } = follow()
    await tick()
    streams[0]?.send('id: 7\ndata: a\n\n')
    await tick()
    streams[0]?.end()
    await tick(1000)
    expect(server.calls.map((call) => call.path)).toEqual(['/events?after=0', '/events?after=7'])
    expect(seen).toEqual(['a'])
  })
  it('reconnects when not even a heartbeat arrives', async () => {
    const { streams } = follow()
    await tick()
    await tick(30_000)
    streams[0]?.send(': beat\n\n')
    await tick(30_000)
    expect(streams).toHaveLength(1)
    await tick(10_000)
    expect(streams).toHaveLength(2)
  })
  it('waits longer after each failure, and not at all when the network is back', async () => {
    const { server, states } = follow(() => problem(503, 'unavailable'))
    await tick(60_000)
    const calls = server.calls.length
    expect(calls).toBeLessThan(12)
    window.dispatchEvent(new Event('online'))
    await tick()
    expect(server.calls.length).toBe(calls + 1)
    expect(states.at(-1)).toBe('reconnecting')
  })
  it('gives its connection back while nobody looks, and goes on where it was', async () => {
    const streams: FakeStream[] = []
    const states: string[] = []
    startFakeServer({
      'GET /events': ({ signal }) => {
        const stream = openFakeStream(signal)
        streams.push(stream)
        return stream.response
      },
    })
    const visibility = vi.spyOn(document, 'visibilityState', 'get')
    handle = openStream({
      path: '/events',
      query: () => ({}),
      onMessage: () => undefined,
      onState: (state) => states.push(state),
      restHiddenMs: 5_000,
    })
    await tick()
    visibility.mockReturnValue('hidden')
    document.dispatchEvent(new Event('visibilitychange'))
    await tick(60_000)
    expect(states.at(-1)).toBe('resting')
    expect(streams).toHaveLength(1)
    visibility.mockReturnValue('visible')
    document.dispatchEvent(new Event('visibilitychange'))
    await tick(100)
    expect(states.at(-1)).toBe('open')
    expect(streams).toHaveLength(2)
    visibility.mockRestore()
  })
  it('ends when the session is gone', async () => {
    const { states, server } = follow(() => problem(404, 'not_found'))
    await tick(60_000)
    expect(states.at(-1)).toBe('ended')
    expect(server.calls).toHaveLength(1)
  })
  it('says nothing more once closed', async () => {
    const { streams, seen } = follow()
    await tick()
    handle?.close()
    await tick(60_000)
    expect(streams).toHaveLength(1)
    expect(seen).toEqual([])
  })
  it('refreshes a token that ran out, once, and goes on', async () => {
    keepLogIn(grant('old'))
    const streams: FakeStream[] = []
    const server = startFakeServer({
      'GET /events': ({ headers, signal }) => {
        if (headers.get('Authorization') !== 'Bearer new') return problem(401, 'unauthenticated')
        const stream = openFakeStream(signal)
        streams.push(stream)
        return stream.response
      },
      'POST /auth/refresh': () => json(grant('new')),
    })
    handle = openStream({ path: '/events', query: () => ({}), onMessage: () => undefined, onState: () => undefined })
    await tick(100)
    expect(streams).toHaveLength(1)
    expect(server.calls.map((call) => call.path)).toEqual(['/events', '/auth/refresh', '/events'])
  })
  it('goes on where it was, with a new token, when the server ends it as the old one expired', async () => {
    keepLogIn(grant('old'))
    let accepted = 'Bearer old'
    const streams: FakeStream[] = []
    const states: StreamState[] = []
    let last = 0
    const server = startFakeServer({
      'GET /events': ({ headers, signal }) => {
        if (headers.get('Authorization') !== accepted) return problem(401, 'token_invalid')
        const stream = openFakeStream(signal)
        streams.push(stream)
        return stream.response
      },
      'POST /auth/refresh': () => json(grant('new')),
    })
    handle = openStream({
      path: '/events',
      query: () => ({ after: last }),
      onMessage: (message) => (last = Number(message.id)),
      onState: (state) => states.push(state),
    })
    await tick()
    streams[0]?.send('id: 7\ndata: a\n\n')
    await tick()
    accepted = 'Bearer new'
    streams[0]?.end()
    await tick(500)
    const paths = server.calls.map((call) => call.path)
    expect(paths).toEqual(['/events?after=0', '/events?after=7', '/auth/refresh', '/events?after=7'])
    expect(states).toEqual(['connecting', 'open', 'reconnecting', 'open'])
  })
})
