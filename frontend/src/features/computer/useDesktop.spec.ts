// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, nextTick, ref, shallowRef, type EffectScope } from 'vue'
import { ApiError } from '@/api/problems'
import { json, problem, startFakeServer, type FakeServer } from '@/shared/testing/fakeServer'
import { FakeSocket } from '@/shared/testing/fakeSocket'
import { nextQuality, quality } from './quality'
import { useDesktop } from './useDesktop'

const picture = vi.hoisted(() => ({
  isThere: true,
  focused: 0,
  released: [] as number[],
  isBrought: false,
  viewer: null as EventTarget | null,
}))
vi.mock('./picture', () => ({ hasPicture: () => picture.isThere, copyPicture: () => picture.isThere }))

/** A viewer that is connected as soon as its socket stands. */
vi.mock('@novnc/novnc', () => {
  picture.isBrought = true
  class Viewer extends EventTarget {
    constructor(_: HTMLElement, socket: EventTarget) {
      super()
      picture.viewer = this
      socket.addEventListener('open', () => this.dispatchEvent(new Event('connect')))
    }
    disconnect(): void {}
    sendKey(symbol: number, _: string | null, down?: boolean): void {
      if (down === false) picture.released.push(symbol)
    }
    focus(): void {
      picture.focused += 1
    }
  }
  return { default: Viewer }
})

let scope: EffectScope
let server: FakeServer
let tickets = 0
let isDown = false

beforeEach(() => {
  FakeSocket.opened = []
  tickets = 0
  isDown = false
  picture.isThere = true
  picture.focused = 0
  vi.stubGlobal('WebSocket', FakeSocket)
  server = startFakeServer({
    'POST /sessions/s/vnc/ticket': () => {
      if (isDown) return problem(503, 'unavailable')
      tickets += 1
      return json({ url: `/api/sessions/s/vnc?ticket=t${tickets}` })
    },
  })
  scope = effectScope()
})
afterEach(() => {
  scope.stop()
  vi.unstubAllGlobals()
})

const onControlLost = vi.fn()

async function watched(isReady = () => true, sessionId = () => 's', onCopied?: (text: string) => void) {
  const element = shallowRef<HTMLElement | null>(document.createElement('div'))
  const still = shallowRef<HTMLCanvasElement | null>(document.createElement('canvas'))
  const desktop = scope.run(() =>
    useDesktop(element, still, sessionId, isReady, {
      ...(onCopied && { onCopied }),
      onControlLost,
      client: 'window-1',
    }),
  )!
  await socket(1)
  return desktop
}
async function socket(number: number): Promise<FakeSocket> {
  await vi.waitFor(() => expect(FakeSocket.opened).toHaveLength(number), { timeout: 10_000 })
  const last = FakeSocket.opened[number - 1]!
  last.open()
  return last
}
const ticketOf = (one: FakeSocket): string | null => one.address.searchParams.get('ticket')

describe('the desktop', () => {
  // The first of them: what was brought once stays.
  it('brings the viewer before the computer is ready, and asks for no ticket until then', async () => {
    expect(picture.isBrought).toBe(false)
    const isReady = ref(false)
    const waiting = watched(() => isReady.value)
    await vi.waitFor(() => expect(picture.isBrought).toBe(true))
    expect(tickets).toBe(0)
    isReady.value = true
    expect((await waiting).state.value).toBe('live')
  })
  it('sends a message of its own while it is live, and tells what was copied there', async () => {
    const copied: string[] = []
    const { state, send } = await watched(undefined, undefined, (text) => copied.push(text))
    await vi.waitFor(() => expect(state.value).toBe('live'))
    send(new Uint8Array([251]))
    FakeSocket.opened[0]!.closed(1012)
    send(new Uint8Array([252]))
    expect(FakeSocket.opened[0]!.sent).toEqual([new Uint8Array([251])])
    picture.viewer?.dispatchEvent(new CustomEvent('clipboard', { detail: { text: 'there' } }))
    expect(copied).toEqual(['there'])
  })
  it('is sent as well as this browser wants it, at once and from then on', async () => {
    await watched()
    expect(picture.viewer).toMatchObject({ qualityLevel: 6, compressionLevel: 2 })
    nextQuality()
    await nextTick()
    expect([quality.value, localStorage.getItem('desktop-quality')]).toEqual(['saving', 'saving'])
    expect(picture.viewer).toMatchObject({ qualityLevel: 1, compressionLevel: 9 })
    nextQuality()
    nextQuality()
    expect(quality.value).toBe('balanced')
  })
  it('stays connected when the computer is told anew without a change', async () => {
    const computer = shallowRef({ status: 'ready' })
    const { state } = await watched(() => computer.value.status === 'ready')
    for (let look = 0; look < 3; look += 1) {
      computer.value = { status: 'ready' }
      await nextTick()
      expect(state.value).toBe('live')
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([tickets, FakeSocket.opened.length]).toEqual([1, 1])
  })
  it('shows the last picture until the next connection has drawn, and the focus goes back to it', async () => {
    const { state, hasStill, setControl } = await watched()
    expect(hasStill.value).toBe(false)
    setControl(true)
    expect([state.value, hasStill.value]).toEqual(['connecting', true])
    await socket(2)
    expect([state.value, hasStill.value]).toEqual(['live', false])
    await vi.waitFor(() => expect(picture.focused).toBe(1))
    FakeSocket.opened[1]!.closed(1012)
    expect([state.value, hasStill.value]).toEqual(['reconnecting', true])
    await socket(3)
    expect(hasStill.value).toBe(false)
    await vi.waitFor(() => expect(picture.focused).toBe(2))
  })
  it('leaves no modifier down when control is handed back', async () => {
    const { setControl } = await watched()
    setControl(true)
    await socket(2)
    picture.released = []
    setControl(false)
    expect(picture.released).toEqual(expect.arrayContaining([0xffe3, 0xffe9, 0xffe1]))
  })
  it('takes the focus from nobody who writes elsewhere by now', async () => {
    const { setControl } = await watched()
    setControl(true)
    const field = document.body.appendChild(document.createElement('textarea'))
    field.focus()
    await socket(2)
    await nextTick()
    expect(picture.focused).toBe(0)
    field.remove()
  })
  it('shows no picture of one conversation in another', async () => {
    const id = ref('s')
    const { hasStill } = await watched(
      () => true,
      () => id.value,
    )
    id.value = 'other'
    await nextTick()
    expect(hasStill.value).toBe(false)
  })
  it('comes back with a ticket of its own when the gateway drains', async () => {
    const { state } = await watched()
    expect(state.value).toBe('live')
    FakeSocket.opened[0]!.closed(1012)
    expect(state.value).toBe('reconnecting')
    const again = await socket(2)
    expect(state.value).toBe('live')
    expect([ticketOf(FakeSocket.opened[0]!), ticketOf(again)]).toEqual(['t1', 't2'])
  })
  it('is not live before the first picture has come', async () => {
    picture.isThere = false
    const { state } = await watched()
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(state.value).toBe('connecting')
    picture.isThere = true
    await vi.waitFor(() => expect(state.value).toBe('live'))
  })
  it('makes a connection anew that stands and brings nothing, and none that brings its first picture slowly', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      picture.isThere = false
      const { state } = await watched()
      for (let piece = 0; piece < 4; piece += 1) {
        await vi.advanceTimersByTimeAsync(10_000)
        FakeSocket.opened[0]!.dispatchEvent(new Event('message'))
      }
      expect([state.value, FakeSocket.opened.length]).toEqual(['connecting', 1])
      await vi.advanceTimersByTimeAsync(15_100)
      expect(state.value).toBe('reconnecting')
      picture.isThere = true
      await socket(2)
      expect([state.value, tickets]).toEqual(['live', 2])
      await vi.advanceTimersByTimeAsync(60_000)
      expect([state.value, FakeSocket.opened.length]).toEqual(['live', 2])
    } finally {
      vi.useRealTimers()
    }
  })
  it('is not live when the connection ends before the first picture', async () => {
    picture.isThere = false
    const { state } = await watched()
    FakeSocket.opened[0]!.closed(4404)
    picture.isThere = true
    await new Promise((resolve) => setTimeout(resolve, 120))
    expect(state.value).toBe('absent')
  })
  it('asks again while no gateway is there, and says why', async () => {
    const { state, problem: why } = await watched()
    isDown = true
    FakeSocket.opened[0]!.closed(1006)
    await vi.waitFor(() => expect(why.value).toMatchObject({ code: 'unavailable' }), { timeout: 10_000 })
    expect(state.value).toBe('reconnecting')
    isDown = false
    await socket(2)
    expect([state.value, why.value]).toEqual(['live', null])
  })
  it('goes on asking where too many pages are open, and says so', async () => {
    const { state, problem: why } = await watched()
    FakeSocket.opened[0]!.closed(4429)
    expect(state.value).toBe('reconnecting')
    expect(why.value).toBeInstanceOf(ApiError)
    expect(why.value).toMatchObject({ code: 'too_many_streams' })
    await socket(2)
    expect(state.value).toBe('live')
  })
  it('asks for nothing where there is none', async () => {
    const { state } = await watched()
    FakeSocket.opened[0]!.closed(4404)
    expect(state.value).toBe('absent')
    expect(server.calls).toHaveLength(1)
  })
  it('controls under the lease of its client, and says when that is lost', async () => {
    const { setControl } = await watched()
    setControl(true)
    await socket(2)
    expect(server.calls.map(({ body }) => body)).toEqual([{ mode: 'view' }, { mode: 'control', client: 'window-1' }])
    onControlLost.mockImplementation(() => setControl(false))
    FakeSocket.opened[1]!.closed(4409)
    await socket(3)
    expect(onControlLost).toHaveBeenCalledTimes(1)
    expect(server.calls.at(-1)?.body).toEqual({ mode: 'view' })
  })
})
