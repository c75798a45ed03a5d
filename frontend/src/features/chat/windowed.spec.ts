import { describe, expect, it } from 'vitest'
import type { Item } from './transcript'
import { nothingWindowed, windowed } from './windowed'

const item = (number: number): Item =>
  ({ kind: number % 10 === 0 ? 'user' : 'tool', key: `k${number}` }) as unknown as Item
const items = (from: number, to: number): Item[] => Array.from({ length: to - from }, (_, at) => item(from + at))
const nothingHeld = (): boolean => false

describe('a conversation on the page', () => {
  it('stands there whole where it is short', () => {
    expect(windowed(items(0, 60), nothingWindowed, nothingHeld)).toMatchObject({ cut: 0, isLonger: false })
  })
  it('has its last turns outside of the window, and their items stay there while it grows', () => {
    const first = windowed(items(0, 200), nothingWindowed, nothingHeld)
    expect(first.items[first.cut]).toMatchObject({ key: 'k170' })
    const next = windowed(items(0, 225), first, nothingHeld)
    expect(next.cut).toBe(first.cut)
    const later = windowed(items(0, 240), next, nothingHeld)
    expect(later.items[later.cut]).toMatchObject({ key: 'k210' })
  })
  it('keeps its end on the page as it is when older items come, and says that those are new', () => {
    const first = windowed(items(100, 150), nothingWindowed, nothingHeld)
    const longer = windowed(items(0, 150), first, nothingHeld)
    expect(longer).toMatchObject({ cut: 100, isLonger: true })
    expect(windowed(items(0, 151), longer, nothingHeld)).toMatchObject({ cut: 100, isLonger: false })
  })
  it('parts nothing that the person opened from the page, as long as there is not far too much', () => {
    const first = windowed(items(0, 200), nothingWindowed, nothingHeld)
    const holds = ({ key }: { key: string }): boolean => key === 'k175'
    expect(windowed(items(0, 240), first, holds).cut).toBe(175)
    expect(windowed(items(0, 500), first, holds).cut).toBe(470)
  })
})
