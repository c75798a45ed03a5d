// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick, ref, useTemplateRef } from 'vue'
import { touch } from '@/shared/testing/touch'
import { useDrawerSwipe } from './useDrawerSwipe'

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(window, 'innerWidth', 'get').mockReturnValue(400)
})
afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

/** A page of 400 px, whose drawer is 320 px wide. */
function show(isOpenAtFirst = false, isNarrow = true) {
  const isOpen = ref(isOpenAtFirst)
  const Page = defineComponent(() => {
    const page = useTemplateRef<HTMLElement>('page')
    const { drawer, shade } = useDrawerSwipe(isOpen, () => (isNarrow ? page.value : null))
    return () => [
      h('main', { ref: 'page' }, [
        h('p', 'Text'),
        h('div', { style: 'overflow-x: auto', 'data-testid': 'table' }),
        h('div', { role: 'application', 'aria-label': 'Screen' }),
      ]),
      isOpen.value && h('nav', { 'data-drawer': '', style: drawer.value }, 'List'),
      isOpen.value && h('div', { 'data-drawer': '', 'data-testid': 'shade', style: shade.value }),
    ]
  })
  render(Page)
  return isOpen
}
const lies = (): string => screen.getByRole('navigation').style.transform

it('comes with a finger from the left edge, and stays where it came far enough', async () => {
  const isOpen = show()
  const finger = touch(screen.getByText('Text'))
  finger.down(20, 300)
  finger.move(60, 305)
  await nextTick()
  expect([isOpen.value, lies()]).toEqual([true, 'translateX(-280px)'])
  finger.move(180, 310)
  await nextTick()
  expect([lies(), screen.getByTestId('shade').style.opacity]).toEqual(['translateX(-160px)', '0.5'])
  finger.up(180, 310)
  await nextTick()
  expect(lies()).toBe('translateX(0px)')
  await vi.runAllTimersAsync()
  expect([isOpen.value, lies()]).toEqual([true, ''])
})
it('goes back where the finger did not mean it', async () => {
  const isOpen = show()
  const finger = touch(screen.getByText('Text'))
  finger.down(20, 300)
  finger.move(80, 300)
  finger.move(60, 300)
  finger.up(60, 300)
  await vi.runAllTimersAsync()
  expect(isOpen.value).toBe(false)
  finger.down(20, 300)
  finger.move(300, 300)
  finger.cancel()
  await vi.runAllTimersAsync()
  expect(isOpen.value).toBe(false)
})
it('goes with a finger to the left, and at once where nothing is to move', async () => {
  vi.spyOn(window, 'matchMedia').mockImplementation(
    (query) =>
      ({ matches: query.includes('reduce'), addEventListener: vi.fn(), removeEventListener: vi.fn() }) as never,
  )
  const isOpen = show(true)
  const finger = touch(screen.getByText('List'))
  finger.down(200, 300)
  finger.move(80, 300)
  await nextTick()
  expect(lies()).toBe('translateX(-120px)')
  finger.up(80, 300)
  expect(isOpen.value).toBe(false)
})
it('leaves a finger alone that scrolls, comes from elsewhere or moves something else', async () => {
  const isOpen = show()
  const swipes: [Element, number, number, number][] = [
    [screen.getByText('Text'), 20, 40, 400],
    [screen.getByText('Text'), 120, 300, 0],
    [screen.getByTestId('table'), 20, 300, 0],
    [screen.getByRole('application'), 20, 300, 0],
  ]
  for (const [target, from, to, down] of swipes) {
    const finger = touch(target)
    finger.down(from, 300)
    finger.move(to, 300 + down)
    finger.move(to + 100, 300 + down)
    finger.up(to + 100, 300 + down)
    await vi.runAllTimersAsync()
    expect(isOpen.value).toBe(false)
  }
})
it('comes again with a finger that does not wait until it went back', async () => {
  const isOpen = show()
  const finger = touch(screen.getByText('Text'))
  finger.down(20, 300)
  finger.move(60, 300)
  finger.cancel()
  finger.down(20, 300)
  finger.move(300, 300)
  finger.up(300, 300)
  await vi.runAllTimersAsync()
  expect(isOpen.value).toBe(true)
})
it('does nothing where the list stands beside the page', () => {
  const isOpen = show(false, false)
  const finger = touch(screen.getByText('Text'))
  finger.down(20, 300)
  finger.move(300, 300)
  expect(isOpen.value).toBe(false)
})
