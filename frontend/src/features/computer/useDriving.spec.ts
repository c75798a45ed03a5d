// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { effectScope, ref, type EffectScope, type Ref } from 'vue'
import { useDriving } from './useDriving'

interface Window_ {
  control: Ref<boolean>
  isElsewhere: Ref<boolean>
  scope: EffectScope
}
const windows: Window_[] = []
const wires = new Map<string, Set<Wire>>()
/** As between the windows of one browser: said to all but oneself, and heard a moment later. */
class Wire extends EventTarget {
  constructor(readonly name: string) {
    super()
    wires.set(name, (wires.get(name) ?? new Set()).add(this))
  }
  postMessage(data: unknown): void {
    const others = [...(wires.get(this.name) ?? [])].filter((one) => one !== this)
    queueMicrotask(() => others.forEach((one) => one.dispatchEvent(new MessageEvent('message', { data }))))
  }
  close(): void {
    wires.get(this.name)?.delete(this)
  }
}
function openWindow(session = 's'): Window_ {
  const scope = effectScope()
  const control = ref(false)
  const isElsewhere = scope.run(() =>
    useDriving(
      () => session,
      control,
      () => (control.value = false),
    ),
  )
  if (!isElsewhere) throw new Error('no scope')
  const opened = { control, isElsewhere, scope }
  windows.push(opened)
  return opened
}
const settled = (ms = 10): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('BroadcastChannel', Wire)
})
afterEach(() => {
  for (const { scope } of windows.splice(0)) scope.stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('is known in a window that was there and in one that comes later, of this session alone', async () => {
  const [one, two, other] = [openWindow(), openWindow(), openWindow('other')]
  one.control.value = true
  await settled()
  const three = openWindow()
  await settled()
  expect([one, two, three, other].map(({ isElsewhere }) => isElsewhere.value)).toEqual([false, true, true, false])
  one.control.value = false
  await settled()
  expect([two, three].map(({ isElsewhere }) => isElsewhere.value)).toEqual([false, false])
})
it('belongs to the window that took it over, and to no other', async () => {
  const [one, two, three] = [openWindow(), openWindow(), openWindow()]
  one.control.value = true
  await settled()
  two.control.value = true
  await settled()
  expect([one, two, three].map(({ control }) => control.value)).toEqual([false, true, false])
  expect([one, two, three].map(({ isElsewhere }) => isElsewhere.value)).toEqual([true, false, true])
  await settled(60_000)
  expect([one, two, three].map(({ isElsewhere }) => isElsewhere.value)).toEqual([true, false, true])
})
it('is free again when its window was closed or is gone without a word', async () => {
  const [one, two] = [openWindow(), openWindow()]
  one.control.value = true
  await settled()
  one.scope.stop()
  await settled()
  expect(two.isElsewhere.value).toBe(false)
  const three = openWindow()
  three.control.value = true
  await settled()
  expect(two.isElsewhere.value).toBe(true)
  for (const wire of wires.get('drives:s') ?? []) if (wire !== [...(wires.get('drives:s') ?? [])][0]) wire.close()
  await settled(6_000)
  expect(two.isElsewhere.value).toBe(false)
})
