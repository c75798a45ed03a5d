// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import { touch } from '@/shared/testing/touch'
import SheetHandle from './SheetHandle.vue'

afterEach(cleanup)
function show() {
  const { container, emitted } = render(SheetHandle)
  const handle = container.querySelector('[data-handle]')
  if (!handle) throw new Error('There is no handle.')
  return { finger: touch(handle), sheet: container as HTMLElement, emitted }
}

it('moves the sheet with the finger, and closes it by a swipe down', () => {
  const { finger, sheet, emitted } = show()
  finger.down(200, 10)
  finger.move(205, 90)
  expect(sheet.style.transform).toBe('translateY(80px)')
  finger.move(205, 150)
  finger.up(205, 150)
  expect(emitted()['close']).toHaveLength(1)
})
it('gives it back where it was not pulled far, or upwards', () => {
  const { finger, sheet, emitted } = show()
  finger.down(200, 10)
  finger.move(200, 40)
  finger.up(200, 40)
  finger.down(200, 100)
  finger.move(200, 10)
  finger.up(200, 10)
  expect([emitted()['close'], sheet.style.transform]).toEqual([undefined, ''])
})
