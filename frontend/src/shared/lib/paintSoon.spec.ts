// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createPaintSoon } from './paintSoon'

let frames: (FrameRequestCallback | null)[] = []

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  frames = []
  vi.stubGlobal('requestAnimationFrame', (run: FrameRequestCallback) => frames.push(run))
  vi.stubGlobal('cancelAnimationFrame', (id: number) => void (frames[id - 1] = null))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('painting soon', () => {
  it('happens once with the next frame', () => {
    const paint = vi.fn()
    const soon = createPaintSoon(paint)
    soon()
    soon()
    frames[0]!(0)
    expect(paint).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(1000)
    expect(paint).toHaveBeenCalledTimes(1)
    soon()
    frames[1]!(0)
    expect(paint).toHaveBeenCalledTimes(2)
  })
  it('rests for a moment after each time', () => {
    const paint = vi.fn()
    const soon = createPaintSoon(paint)
    soon()
    frames[0]!(0)
    soon()
    vi.advanceTimersByTime(59)
    expect(frames).toHaveLength(1)
    vi.advanceTimersByTime(1)
    frames[1]!(0)
    expect(paint).toHaveBeenCalledTimes(2)
    vi.advanceTimersByTime(1000)
    expect(paint).toHaveBeenCalledTimes(2)
  })
  it('happens without a frame where the tab went to the background after it was asked for', () => {
    const paint = vi.fn()
    const soon = createPaintSoon(paint)
    soon()
    vi.advanceTimersByTime(300)
    expect(paint).toHaveBeenCalledTimes(1)
    soon()
    vi.advanceTimersByTime(300)
    expect(paint).toHaveBeenCalledTimes(2)
    expect(frames.filter((frame) => frame !== null)).toHaveLength(0)
  })
})
