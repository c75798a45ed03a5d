// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { effectScope, nextTick, ref, shallowRef } from 'vue'
import { useFittedScreen } from './useFittedScreen'

const box = vi.hoisted(() => ({
  width: null as unknown as { value: number },
  height: null as unknown as { value: number },
}))
vi.mock('@vueuse/core', async (original) => ({ ...(await original<object>()), useElementSize: () => box }))

let scope = effectScope()
const isLive = ref(false)
const mayChange = ref(true)
const asked: number[][] = []

async function settle(): Promise<void> {
  await nextTick()
  await vi.advanceTimersByTimeAsync(200)
}
beforeEach(() => {
  vi.useFakeTimers()
  scope = effectScope()
  box.width = ref(541)
  box.height = ref(748)
  isLive.value = false
  mayChange.value = true
  asked.length = 0
  const send = (message: Uint8Array): void => {
    const view = new DataView(message.buffer)
    asked.push([view.getUint16(2), view.getUint16(4)])
  }
  scope.run(() =>
    useFittedScreen(
      shallowRef(null),
      () => isLive.value,
      () => mayChange.value,
      send,
    ),
  )
})
afterEach(() => {
  scope.stop()
  vi.useRealTimers()
})

it('asks for the size of its box with each connection, and once for a box that is dragged', async () => {
  await settle()
  expect(asked).toEqual([])
  isLive.value = true
  await nextTick()
  expect(asked).toEqual([[541, 748]])
  for (const width of [560, 580, 600]) {
    box.width.value = width
    await nextTick()
  }
  await settle()
  expect(asked.slice(1)).toEqual([[600, 748]])
  isLive.value = false
  await nextTick()
  isLive.value = true
  await nextTick()
  expect(asked).toHaveLength(3)
})
it('asks for nothing while the agent works with what it saw, and does once it may', async () => {
  mayChange.value = false
  isLive.value = true
  box.width.value = 700
  await settle()
  expect(asked).toEqual([])
  mayChange.value = true
  await settle()
  expect(asked).toEqual([[700, 748]])
})
