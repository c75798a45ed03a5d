// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick, useTemplateRef } from 'vue'
import { i18n } from '@/i18n'
import PanZoom from './PanZoom.vue'
import ZoomButtons from './ZoomButtons.vue'

afterEach(cleanup)
beforeEach(() => {
  vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(400)
  vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(200)
  vi.spyOn(HTMLElement.prototype, 'setPointerCapture').mockReturnValue()
})

const beside = vi.fn()
async function show(): Promise<HTMLElement> {
  const Page = defineComponent(() => {
    const picture = useTemplateRef<InstanceType<typeof PanZoom>>('picture')
    return () => [
      h(ZoomButtons, { of: picture.value }),
      h(PanZoom, { ref: 'picture', url: 'data:,', alt: 'a', name: 'Plan', picture: '', onBeside: beside }),
    ]
  })
  render(Page, { global: { plugins: [i18n] } })
  await nextTick()
  return screen.getByRole('group')
}
/** Whether the page does with it what it would. */
async function isLeft(event: Event): Promise<boolean> {
  await fireEvent(screen.getByRole('group'), event)
  return !event.defaultPrevented
}
const key = (name: string) => new KeyboardEvent('keydown', { key: name, cancelable: true, bubbles: true })
const wheel = (init: WheelEventInit) =>
  Object.assign(new Event('wheel', { cancelable: true }), { deltaY: -100, deltaMode: 0, ...init })
const lies = (): string => screen.getByRole('img').parentElement?.style.transform ?? ''
const pointer = (type: string, id: number, x: number, y: number) =>
  fireEvent(
    screen.getByRole('group'),
    new PointerEvent(type, { pointerId: id, clientX: x, clientY: y, buttons: type === 'pointerup' ? 0 : 1 }),
  )

it('leaves the wheel, the finger and the arrow keys to the page while all of it is seen', async () => {
  const place = await show()
  expect(await isLeft(wheel({}))).toBe(true)
  expect(await isLeft(key('ArrowDown'))).toBe(true)
  await pointer('pointerdown', 1, 10, 10)
  await pointer('pointermove', 1, 60, 60)
  expect([lies(), place.className.includes('touch-pan-y')]).toEqual(['', true])
})
it('grows by the wheel with Ctrl where it points, and only then holds fingers', async () => {
  const place = await show()
  expect(await isLeft(wheel({ ctrlKey: true, clientX: 100, clientY: 50 }))).toBe(false)
  expect(lies()).toMatch(/translate\(-49\.\d+px, -24\.\d+px\) scale\(1\.49/)
  expect(place.className).toContain('touch-none')
})
it('grows by two fingers, and moves by one', async () => {
  await show()
  await pointer('pointerdown', 1, 100, 100)
  await pointer('pointerdown', 2, 200, 100)
  await pointer('pointermove', 2, 300, 100)
  expect(lies()).toContain('scale(2)')
  await pointer('pointerup', 2, 300, 100)
  await pointer('pointermove', 1, 60, 100)
  expect(lies()).toBe('translate(-140px, -100px) scale(2)')
})
it('has buttons and keys for all of it', async () => {
  await show()
  await userEvent.click(screen.getByRole('button', { name: 'Larger' }))
  expect(lies()).toContain('scale(1.5)')
  expect(await isLeft(key('ArrowRight'))).toBe(false)
  expect(lies()).toBe('translate(-148px, -50px) scale(1.5)')
  await userEvent.click(screen.getByRole('button', { name: 'Smaller' }))
  expect(lies()).toBe('')
  await isLeft(key('+'))
  await userEvent.click(screen.getByRole('button', { name: 'Show all of it' }))
  expect(lies()).toBe('')
})
it('tells a press beside the picture from the end of a drag', async () => {
  const place = await show()
  await fireEvent.click(place)
  expect(beside).toHaveBeenCalledTimes(1)
  await pointer('pointerdown', 1, 10, 10)
  await pointer('pointermove', 1, 60, 60)
  await pointer('pointerup', 1, 60, 60)
  await fireEvent.click(place)
  expect(beside).toHaveBeenCalledTimes(1)
})
it('makes nothing smaller that is seen whole, says so, and leaves the focus among the buttons', async () => {
  await show()
  const button = (name: string): HTMLButtonElement => screen.getByRole('button', { name })
  expect([button('Smaller').disabled, button('Smaller').title]).toEqual([true, 'All of it is shown'])
  await userEvent.click(button('Larger'))
  expect(button('Smaller').disabled).toBe(false)
  await userEvent.click(button('Smaller'))
  expect(button('Show all of it').disabled).toBe(true)
  expect(document.activeElement).toBe(button('Larger'))
})
