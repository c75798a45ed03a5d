// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { effectScope, nextTick, ref, type EffectScope } from 'vue'
import { useStickToBottom } from './useStickToBottom'

let resized: () => void
let scope: EffectScope
let view: ReturnType<typeof useStickToBottom>
const grows = ref(0)
const box = document.createElement('div')
const content = document.createElement('div')
const row = document.createElement('button')
row.setAttribute('aria-expanded', 'false')
const words = document.createElement('p')
content.append(row, words)
box.append(content)
const sizes = { height: 0, top: 0, width: 300 }
Object.defineProperties(box, {
  clientHeight: { value: 100 },
  clientWidth: { get: () => sizes.width },
  scrollHeight: { get: () => Math.max(sizes.height, 100) },
  scrollTop: { get: () => sizes.top },
})
box.scrollTo = ((to: ScrollToOptions) => (sizes.top = Math.max((to.top ?? 0) - 100, 0))) as typeof box.scrollTo

async function grow(height: number): Promise<void> {
  sizes.height = height
  resized()
  await nextTick()
}

beforeEach(() => {
  Object.assign(sizes, { height: 0, top: 0, width: 300 })
  vi.stubGlobal(
    'ResizeObserver',
    class {
      constructor(callback: () => void) {
        resized = callback
      }
      observe(): void {}
      disconnect(): void {}
    },
  )
  scope = effectScope()
  scope.run(() => (view = useStickToBottom(ref(box), ref(content), () => grows.value)))
})
afterEach(() => {
  scope.stop()
  vi.unstubAllGlobals()
})

describe('the end of what grows', () => {
  it('stays in view, also after a click on words', async () => {
    await grow(300)
    expect(sizes.top).toBe(200)
    words.click()
    await grow(400)
    expect(sizes.top).toBe(300)
  })
  it('stays in view where the screen is turned', async () => {
    await grow(300)
    Object.assign(sizes, { width: 100, height: 900 })
    box.dispatchEvent(new Event('scroll'))
    await grow(900)
    expect(sizes.top).toBe(800)
  })
  it('stays in view where it grows by itself before the last scroll is told', async () => {
    await grow(300)
    sizes.height = 580
    box.dispatchEvent(new Event('scroll'))
    await grow(580)
    expect(sizes.top).toBe(480)
  })
  it('is left by who scrolls up, and no further growth brings it back', async () => {
    await grow(300)
    sizes.top = 100
    box.dispatchEvent(new Event('scroll'))
    await grow(600)
    box.dispatchEvent(new Event('scroll'))
    await grow(900)
    expect(sizes.top).toBe(100)
  })
  it('is left by who opens a row there, which stays where it is', async () => {
    await grow(300)
    row.click()
    await grow(900)
    await grow(1200)
    expect(sizes.top).toBe(200)
  })
  it('is there again when what is below is gone, with no word of something new', async () => {
    await grow(300)
    sizes.top = 50
    box.dispatchEvent(new Event('scroll'))
    const heights = [300, 400]
    Object.defineProperty(content, 'offsetHeight', { configurable: true, get: () => heights.shift() })
    grows.value += 1
    sizes.height = 400
    await nextTick()
    await nextTick()
    expect([view.isAtEnd.value, view.hasNew.value]).toEqual([false, true])
    sizes.top = 0
    await grow(90)
    expect([view.isAtEnd.value, view.hasNew.value]).toEqual([true, false])
  })
  it('is followed again where what was opened found room', async () => {
    await grow(50)
    row.click()
    await grow(80)
    await grow(300)
    expect(sizes.top).toBe(200)
  })
})
