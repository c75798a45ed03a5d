// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { LATER_MS } from './outbox'
import { createStops } from './stops'

let asked: string[]
let answer: () => Response | Promise<Response>
let account: string
let settled: string[]
let refused: unknown[]
const away = (): Response => problem(503, 'unavailable')
const taken = (): Response => json({ run_id: 'r' }, 202)
const over = (): Response => new Response(null, { status: 204 })

function begin() {
  return createStops({
    account: () => account,
    mayRetry: () => true,
    onSettled: (id) => settled.push(id),
    onRefused: (id, error) => refused.push([id, (error as { code: string }).code]),
  })
}
let stops: ReturnType<typeof begin>

beforeEach(() => {
  localStorage.clear()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  asked = []
  settled = []
  refused = []
  account = 'anna'
  answer = taken
  startFakeServer({
    'POST /sessions/s/stop': ({ body }) => {
      asked.push((body as { run_id: string }).run_id)
      return answer()
    },
  })
  stops = begin()
})
afterEach(() => {
  stops.forget()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('stops', () => {
  it('names the run, and stands until that has ended', async () => {
    await stops.ask('s', 'r')
    await stops.ask('s', 'r')
    expect(asked).toEqual(['r'])
    expect(stops.of('s')).toEqual({ runId: 'r', state: 'sent' })
    stops.end('s', 'other')
    expect(stops.of('s')?.runId).toBe('r')
    stops.end('s', 'r')
    expect(stops.of('s')).toBeUndefined()
  })
  it('is acknowledged at once, kept while the server is away, and sent once it is there', async () => {
    answer = away
    const asking = stops.ask('s', 'r')
    expect(stops.of('s')?.state).toBe('sending')
    await asking
    expect(stops.of('s')?.state).toBe('waiting')
    expect(settled).toEqual([])
    answer = taken
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect(asked).toEqual(['r', 'r'])
    expect(stops.of('s')?.state).toBe('sent')
    expect(settled).toEqual(['s'])
    expect(localStorage).toHaveLength(0)
  })
  it('is dropped where its run ended meanwhile, told by the server or by the conversation', async () => {
    answer = away
    await stops.ask('s', 'r')
    answer = over
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect(stops.of('s')).toBeUndefined()
    answer = away
    await stops.ask('s', 'r')
    stops.end('s', 'r')
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect(asked).toHaveLength(3)
    expect([stops.of('s'), refused, localStorage.length]).toEqual([undefined, [], 0])
  })
  it('goes on after a reload where its run is still at work, and for nobody else', async () => {
    answer = away
    await stops.ask('s', 'r')
    stops.forget()
    answer = taken
    stops = begin()
    account = 'ben'
    stops.open('s', 'r')
    expect(stops.of('s')).toBeUndefined()
    account = 'anna'
    stops.open('s', 'r')
    await vi.waitFor(() => expect(stops.of('s')?.state).toBe('sent'))
    expect(asked).toEqual(['r', 'r'])
  })
  it('is for no later run than the one that was seen', async () => {
    answer = away
    await stops.ask('s', 'r')
    stops.open('s', 'later')
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect(asked).toEqual(['r'])
    expect(localStorage).toHaveLength(0)
  })
  it('tells what the server refused, and is asked for anew', async () => {
    answer = () => problem(500, 'internal')
    await stops.ask('s', 'r')
    expect(refused).toEqual([['s', 'internal']])
    expect(stops.of('s')).toBeUndefined()
    answer = taken
    await stops.ask('s', 'r')
    expect(asked).toEqual(['r', 'r'])
  })
  it('is over where its run ends before the server has answered, whatever that answers then', async () => {
    for (const late of [taken, () => problem(500, 'internal'), away]) {
      let say: () => void = () => undefined
      answer = () => new Promise((resolve) => (say = () => resolve(late())))
      const asking = stops.ask('s', 'r')
      await vi.advanceTimersByTimeAsync(1)
      stops.end('s', 'r')
      say()
      await asking
      expect([stops.of('s'), refused, localStorage.length]).toEqual([undefined, [], 0])
    }
  })
  it('that the server has is nothing to keep where its conversation is left', async () => {
    await stops.ask('s', 'r')
    stops.leave('s')
    expect(stops.of('s')).toBeUndefined()
  })
  it('goes also where its conversation was left meanwhile', async () => {
    answer = away
    await stops.ask('s', 'r')
    stops.leave('s')
    answer = taken
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect(asked).toEqual(['r', 'r'])
  })
})
