// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { createPace } from './pace'

let time = 0
let cost = 0
const work = vi.fn(() => void (time += cost))
const pace = createPace(work, () => time)

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  pace.stop()
  vi.useRealTimers()
})

it('does at once what costs nothing, and what costs much as often as a fifth of the time allows', async () => {
  pace.soon()
  await nextTick()
  pace.soon()
  await nextTick()
  expect(work).toHaveBeenCalledTimes(2)
  cost = 20
  pace.soon()
  await nextTick()
  for (let asked = 0; asked < 10; asked += 1) pace.soon()
  expect(work).toHaveBeenCalledTimes(3)
  vi.advanceTimersByTime(79)
  expect(work).toHaveBeenCalledTimes(3)
  vi.advanceTimersByTime(1)
  expect(work).toHaveBeenCalledTimes(4)
  pace.now()
  expect(work).toHaveBeenCalledTimes(5)
})
