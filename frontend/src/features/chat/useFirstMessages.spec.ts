// @vitest-environment happy-dom
import { effectScope, ref, type EffectScope } from 'vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/problems'
import { recallDraft } from './drafts'
import { LATER_MS, recallOutbox, type Pending } from './outbox'
import { useFirstMessages } from './useFirstMessages'

const textsOf = (entries: readonly Pending[]): string[] => entries.map(({ text }) => text)
let scope: EffectScope
let sent: string[]
let refused: unknown[]
let begun: (() => Promise<string>)[]
const isAtStart = ref(true)

beforeEach(() => {
  localStorage.clear()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  scope = effectScope()
  ;[sent, refused, begun] = [[], [], []]
  isAtStart.value = true
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
})
/** Begins as `begun` says, one after the other, and is away after that. */
function start() {
  return scope.run(() =>
    useFirstMessages(
      () => 'u',
      () => isAtStart.value,
      async () => await (begun.shift()?.() ?? Promise.reject(ApiError.unreachable())),
      (id, entries) => sent.push(...entries.map(({ text }) => `${id}: ${text}`)),
      (error, draft) => refused.push([(error as ApiError).code, draft]),
    ),
  )!
}
function held() {
  let settle: { begin: () => void; fail: (error: ApiError) => void } = { begin: () => undefined, fail: () => undefined }
  const beginning = new Promise<string>((resolve, reject) => {
    settle = { begin: () => resolve('s'), fail: reject }
  })
  begun.push(() => beginning)
  return settle
}

describe('first messages', () => {
  it('sends also what is written while the conversation begins, in order', async () => {
    const beginning = held()
    const first = start()
    first.add('one')
    const trying = first.again()
    first.add('two')
    beginning.begin()
    await trying
    expect(sent).toEqual(['s: one', 's: two'])
    expect([first.waiting.value, recallOutbox({ account: 'u', sessionId: null })]).toEqual([[], []])
  })
  it('tries again by itself while the server is away', async () => {
    const first = start()
    first.add('one')
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect(textsOf(first.waiting.value)).toEqual(['one'])
    begun.push(() => Promise.resolve('s'))
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect(sent).toEqual(['s: one'])
  })
  it('gives back to the next page what a conversation was beginning with when this one was left', () => {
    start().hold('one')
    scope.stop()
    scope = effectScope()
    const { waiting } = start()
    expect([recallDraft('u', null), waiting.value]).toEqual(['one', []])
  })
  it('gives back nothing once it is kept elsewhere', () => {
    start().hold('one')()
    scope.stop()
    scope = effectScope()
    start()
    expect(recallDraft('u', null)).toBe('')
  })
  it('gives back all of it as a draft when it is refused', async () => {
    const beginning = held()
    const first = start()
    first.add('one')
    const trying = first.again()
    first.add('two')
    beginning.fail(new ApiError(429, 'too_many_sessions', ''))
    await trying
    expect(refused).toEqual([['too_many_sessions', 'one\n\ntwo']])
    expect(first.waiting.value).toEqual([])
  })
  it('sends what waits also to a reader who left while it began', async () => {
    const beginning = held()
    const first = start()
    first.add('one')
    const trying = first.again()
    isAtStart.value = false
    beginning.begin()
    await trying
    expect(sent).toEqual(['s: one'])
  })
  it('is a draft again once the start page is left, also where that was left in the middle of a try', async () => {
    const beginning = held()
    const first = start()
    first.add('one')
    const trying = first.again()
    isAtStart.value = false
    beginning.fail(ApiError.unreachable())
    await trying
    expect([first.waiting.value, recallDraft('u', null)]).toEqual([[], 'one'])
    await vi.advanceTimersByTimeAsync(3 * LATER_MS)
    expect(sent).toEqual([])
  })
  it('gives back what a page of before kept, and that once', () => {
    localStorage.setItem('outbox:new:u', JSON.stringify([{ clientMessageId: '1', text: 'left' }]))
    localStorage.setItem('outbox:new:other', JSON.stringify([{ clientMessageId: '2', text: 'theirs' }]))
    start()
    expect([recallDraft('u', null), localStorage.getItem('outbox:new:u')]).toEqual(['left', null])
    expect(localStorage.getItem('outbox:new:other')).not.toBeNull()
  })
  it('tries nothing after it has ended, and keeps it for the next time', async () => {
    const beginning = held()
    const first = start()
    first.add('one')
    const trying = first.again()
    scope.stop()
    beginning.fail(ApiError.unreachable())
    await trying
    begun.push(() => Promise.resolve('s'))
    await vi.advanceTimersByTimeAsync(3 * LATER_MS)
    expect([sent, textsOf(recallOutbox({ account: 'u', sessionId: null }))]).toEqual([[], ['one']])
  })
})
