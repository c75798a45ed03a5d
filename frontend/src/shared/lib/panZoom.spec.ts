import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fitted, MOST_SCALE, moved, spread, zoomed } from './panZoom'

const place = { width: 400, height: 200 }

it('grows around the point that was pointed at', () => {
  const view = zoomed(fitted, 2, { x: 100, y: 50 }, place)
  expect(view).toEqual({ scale: 2, x: -100, y: -50 })
  expect(zoomed(view, 0.5, { x: 0, y: 0 }, place)).toEqual(fitted)
})
it('is moved no further than to its edges, and not at all while all of it is seen', () => {
  expect(moved(fitted, { x: 30, y: -30 }, place)).toEqual(fitted)
  const view = zoomed(fitted, 2, { x: 0, y: 0 }, place)
  expect(moved(view, { x: -1000, y: -10 }, place)).toEqual({ scale: 2, x: -400, y: -10 })
})
it('never shows what lies outside of it', () => {
  const step = fc.record({
    by: fc.double({ min: 0.1, max: 10, noNaN: true }),
    x: fc.integer({ min: -500, max: 500 }),
    y: fc.integer({ min: -500, max: 500 }),
  })
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let view = fitted
      for (const { by, x, y } of steps) view = moved(zoomed(view, by, { x, y }, place), { x, y }, place)
      expect(view.scale).toBeGreaterThanOrEqual(1)
      expect(view.scale).toBeLessThanOrEqual(MOST_SCALE)
      expect(view.x).toBeLessThanOrEqual(0)
      expect(view.x + place.width * view.scale).toBeGreaterThanOrEqual(place.width - 1e-6)
    }),
  )
})
it('tells how far fingers are apart', () => {
  expect(spread([{ x: 5, y: 5 }])).toEqual({ middle: { x: 5, y: 5 }, distance: 0 })
  expect(
    spread([
      { x: 0, y: 0 },
      { x: 10, y: 0 },
    ]),
  ).toEqual({ middle: { x: 5, y: 0 }, distance: 5 })
})
