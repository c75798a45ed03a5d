// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { effectScope, type EffectScope } from 'vue'
import { ApiError } from '@/api/problems'
import { json, problem, startFakeServer, type FakeServer } from '@/shared/testing/fakeServer'
import { FakeSocket } from '@/shared/testing/fakeSocket'
import { bytesOf } from './screen'
import { MOST_PASTED_BYTES, useOwnTerminal } from './useOwnTerminal'

let scope: EffectScope
let server: FakeServer
let tickets = 0
let refused: Response | null = null
const screen = {
  shown: '',
  resets: 0,
  size: [0, 0],
  write(data: string | Uint8Array, done?: () => void) {
    this.shown += typeof data === 'string' ? data : new TextDecoder().decode(data)
    done?.()
  },
  reset() {
    this.resets += 1
    this.shown = ''
  },
  resize({ cols, rows }: { cols: number; rows: number }) {
    this.size = [cols, rows]
  },
  fitted: () => ({ cols: 90, rows: 20 }),
}

beforeEach(() => {
  vi.useFakeTimers()
  FakeSocket.opened = []
  tickets = 0
  refused = null
  Object.assign(screen, { shown: '', resets: 0 })
  vi.stubGlobal('WebSocket', FakeSocket)
  server = startFakeServer({
    'POST /sessions/s/terminal/ticket': () => {
      tickets += 1
      return refused ?? json({ url: `/api/sessions/s/terminal?ticket=t${tickets}` }, 201)
    },
  })
  scope = effectScope()
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})
const use = () =>
  scope.run(() =>
    useOwnTerminal(
      () => screen,
      () => 's',
      () => 'main',
    ),
  )!
const last = () => FakeSocket.opened.at(-1)!
const told = (frame: object) => last().dispatchEvent(new MessageEvent('message', { data: JSON.stringify(frame) }))
const came = (text: string) => last().dispatchEvent(new MessageEvent('message', { data: bytesOf(text).buffer }))
const attached = (offset: number, began = 1) => told({ type: 'attached', offset, cols: 80, rows: 24, began, modes: '' })
const sent = () => last().sent.map((message) => (typeof message === 'string' ? JSON.parse(message) : message))
async function connected() {
  const own = use()
  own.start()
  await vi.waitFor(() => expect(FakeSocket.opened).toHaveLength(1))
  attached(0)
  return own
}

it('opens a terminal by a ticket of its own, and names its size', async () => {
  const own = await connected()
  expect(server.calls[0]?.body).toEqual({ terminal: 'main' })
  expect(own.state.value).toBe('live')
  expect(screen.size).toEqual([80, 24])
  expect(sent()).toEqual([
    { type: 'ack', offset: 0 },
    { type: 'resize', cols: 90, rows: 20 },
  ])
})

it('acknowledges what it has shown', async () => {
  await connected()
  came('hello')
  expect(screen.shown).toBe('hello')
  expect(sent().at(-1)).toEqual({ type: 'ack', offset: 5 })
})

it('goes on after a cut where it was, and clears the screen where that is not kept', async () => {
  const own = await connected()
  came('hello')
  last().closed(1006)
  expect(own.state.value).toBe('reconnecting')
  await vi.runOnlyPendingTimersAsync()
  await vi.waitFor(() => expect(FakeSocket.opened).toHaveLength(2))
  expect(last().address.search).toBe('?ticket=t2&after=5&began=1')
  attached(5)
  came(' again')
  expect([screen.shown, screen.resets]).toEqual(['hello again', 1])
  last().closed(1006)
  await vi.runOnlyPendingTimersAsync()
  await vi.waitFor(() => expect(FakeSocket.opened).toHaveLength(3))
  attached(900)
  expect([screen.shown, screen.resets]).toEqual(['', 2])
})

it('reports the end of the shell, and starts another', async () => {
  const own = await connected()
  told({ type: 'ended', exit_code: 3 })
  last().closed(1000)
  expect([own.state.value, own.exitCode.value]).toEqual(['ended', 3])
  own.start()
  await vi.waitFor(() => expect(FakeSocket.opened).toHaveLength(2))
  attached(0, 2)
  expect([own.state.value, own.exitCode.value]).toEqual(['live', null])
})

it.each([
  [4403, 'terminal_refused'],
  [4429, 'too_many_terminals'],
  [4404, 'session_not_found'],
])('does not try again after %i', async (code, problemCode) => {
  const own = await connected()
  last().closed(code)
  expect(own.state.value).toBe('failed')
  expect((own.problem.value as ApiError).code).toBe(problemCode)
  await vi.runOnlyPendingTimersAsync()
  expect(FakeSocket.opened).toHaveLength(1)
})

it('tells why there is no ticket', async () => {
  refused = problem(404, 'session_not_found')
  const own = use()
  own.start()
  await vi.waitFor(() => expect(own.state.value).toBe('failed'))
})

it('types in pieces, and refuses what is too much at once', async () => {
  const own = await connected()
  const before = last().sent.length
  expect(own.type(new Uint8Array(70_000))).toBe(true)
  expect(last().sent.length - before).toBe(3)
  expect(own.type(new Uint8Array(MOST_PASTED_BYTES + 1))).toBe(false)
  expect(last().sent.length - before).toBe(3)
  told({ type: 'input_dropped', bytes: 12 })
  expect(own.dropped.value).toBe(12)
})
