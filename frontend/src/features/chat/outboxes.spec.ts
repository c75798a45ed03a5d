// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { isWaiting, keepOutbox, LATER_MS, recallOutbox, type Pending } from './outbox'
import { createOutboxes } from './outboxes'

const written = (text: string): Pending => ({ clientMessageId: `id-${text}`, text, attachments: [], state: 'sending' })
const waiting = (text: string): Pending => ({ ...written(text), state: 'failed', problem: 'unreachable' })
const textsOf = (entries: readonly Pending[]): string[] => entries.map(({ text }) => text)

const A = { account: 'anna', sessionId: 'a' }

let account: string
let isHeldUp: boolean
let got: string[]
let answer: (text: string) => Response | Promise<Response>
let outboxes: ReturnType<typeof createOutboxes>
let shown: string | null

const accept = (): Response => json({ message_id: 'm', run_id: 'r', seq: 2, duplicate: false }, 202)
beforeEach(() => {
  localStorage.clear()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  account = 'anna'
  got = []
  shown = null
  answer = accept
  const post = (session: string) => async (request: { body: unknown }) => {
    const { text } = request.body as { text: string }
    const told = await answer(text)
    if (told.ok) got.push(`${session}: ${text}`)
    return told
  }
  startFakeServer({ 'POST /sessions/a/messages': post('a'), 'POST /sessions/b/messages': post('b') })
  isHeldUp = false
  outboxes = createOutboxes({
    account: () => account,
    mayRetry: (id) => id !== shown,
    isHeldUp: () => isHeldUp,
    onStored: (id) => id !== shown,
  })
})
afterEach(() => {
  outboxes.forget()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('outboxes', () => {
  it('keeps the order over failed tries, and stops at the first that has to wait', async () => {
    keepOutbox(A, [waiting('first'), waiting('second')])
    outboxes.load('a')
    const tried: string[] = []
    answer = (text) => {
      tried.push(text)
      return problem(503, 'unavailable')
    }
    await outboxes.send('a')
    expect(tried).toEqual(['first'])
    await outboxes.add('a', [written('third')])
    expect(tried).toEqual(['first', 'first'])
    expect(textsOf(recallOutbox(A))).toEqual(['first', 'second', 'third'])
    expect(outboxes.of('a')).toMatchObject(Array(3).fill({ state: 'failed', problem: 'unavailable' }))
    answer = accept
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect(got).toEqual(['a: first', 'a: second', 'a: third'])
    expect(recallOutbox(A)).toEqual([])
  })
  it('sends the next only once the server has the one before, and holds up no other conversation', async () => {
    let store: () => void = () => undefined
    answer = (text) => (text === 'first' ? new Promise((resolve) => (store = () => resolve(accept()))) : accept())
    const sending = outboxes.add('a', [written('first'), written('second')])
    await outboxes.add('b', [written('other')])
    expect(got).toEqual(['b: other'])
    store()
    await sending
    expect(got).toEqual(['b: other', 'a: first', 'a: second'])
  })
  it('goes on past what was refused, which keeps its place until it is asked for', async () => {
    answer = (text) => (text === 'first' ? problem(429, 'too_many_waiting') : accept())
    await outboxes.add('a', [written('first'), written('second')])
    expect(got).toEqual(['a: second'])
    await vi.advanceTimersByTimeAsync(10 * LATER_MS)
    expect(outboxes.of('a')).toMatchObject([{ text: 'first', state: 'failed', problem: 'too_many_waiting' }])
    answer = accept
    await outboxes.add('a', outboxes.of('a'))
    expect(got).toEqual(['a: second', 'a: first'])
  })
  it('sends what is added while the last one goes', async () => {
    const sending = outboxes.add('a', [written('first')])
    void outboxes.add('a', [written('second')])
    await sending
    expect(got).toEqual(['a: first', 'a: second'])
  })
  it('keeps what the server has until it is heard back where it is shown, and sends it once', async () => {
    shown = 'a'
    await outboxes.add('a', [written('first')])
    await outboxes.send('a')
    expect([got, textsOf(outboxes.of('a'))]).toEqual([['a: first'], ['first']])
    shown = null
    outboxes.leave('a')
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect([got, recallOutbox(A)]).toEqual([['a: first'], []])
  })
  it('tries again by itself only where it may, so not what is shown without a stream', async () => {
    shown = 'a'
    answer = () => problem(503, 'unavailable')
    await outboxes.add('a', [written('first')])
    answer = accept
    await vi.advanceTimersByTimeAsync(3 * LATER_MS)
    expect(got).toEqual([])
    shown = null
    outboxes.leave('a')
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect(got).toEqual(['a: first'])
  })
  it('brings back nothing that was discarded or forgotten on its way, and leaves what is kept for the next log-in', async () => {
    let refuse: () => void = () => undefined
    const held = () =>
      new Promise<Response>((resolve) => {
        refuse = () => resolve(problem(503, 'unavailable'))
      })
    answer = held
    const discarded = outboxes.add('a', [written('first')])
    outboxes.settle('a', 'id-first')
    await vi.advanceTimersByTimeAsync(1)
    refuse()
    await discarded
    expect(recallOutbox(A)).toEqual([])
    const forgotten = outboxes.add('a', [written('second'), written('third')])
    await vi.advanceTimersByTimeAsync(1)
    outboxes.forget()
    refuse()
    await forgotten
    await vi.advanceTimersByTimeAsync(2 * LATER_MS)
    expect([got, textsOf(recallOutbox(A))]).toEqual([[], ['second', 'third']])
  })
  it('lets wait what is written while a stop has to go first, also behind one that is being sent', async () => {
    let store: () => void = () => undefined
    answer = () => new Promise((resolve) => (store = () => resolve(accept())))
    const first = outboxes.add('a', [written('first')])
    isHeldUp = true
    const second = outboxes.add('a', [written('second')])
    await vi.advanceTimersByTimeAsync(1)
    store()
    await Promise.all([first, second])
    await outboxes.add('a', [written('third')])
    expect([got, textsOf(outboxes.of('a')), outboxes.of('a').every(isWaiting)]).toEqual([
      ['a: first'],
      ['second', 'third'],
      true,
    ])
    isHeldUp = false
    answer = accept
    outboxes.retry()
    await vi.waitFor(() => expect(got).toEqual(['a: first', 'a: second', 'a: third']))
  })
  it('shows and sends nothing to another account in this browser', async () => {
    answer = () => problem(503, 'unavailable')
    await outboxes.add('a', [written('private')])
    outboxes.forget()
    account = 'ben'
    outboxes.load('a')
    answer = accept
    await outboxes.send('a')
    outboxes.leave('a')
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect([outboxes.of('a'), got]).toEqual([[], []])
    account = 'anna'
    outboxes.load('a')
    await outboxes.send('a')
    expect(got).toEqual(['a: private'])
  })
})
it('queues at the server, under the same id over failed tries', async () => {
  const asked: unknown[] = []
  startFakeServer({
    'POST /sessions/a/queue': ({ body }) => {
      asked.push(body)
      return asked.length === 1 ? problem(503, 'unavailable') : json({ items: [], held: null }, 201)
    },
  })
  await outboxes.add('a', [{ ...written('later'), queued: true }])
  expect(recallOutbox(A)).toMatchObject([{ queued: true, state: 'failed' }])
  await vi.advanceTimersByTimeAsync(LATER_MS)
  await vi.waitFor(() => expect(outboxes.of('a')).toEqual([]))
  const body = { text: 'later', attachments: [], client_id: 'id-later' }
  expect(asked).toEqual([body, body])
})
