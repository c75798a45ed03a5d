import { expect, it } from 'vitest'
import { sizeFor, sizeMessage } from './screenSize'

it('has a pixel for each of the page, and more only as long as text stays readable', () => {
  expect(sizeFor({ width: 541, height: 748 }, 1)).toEqual({ width: 541, height: 748 })
  expect(sizeFor({ width: 541, height: 748 }, 1.25)).toEqual({ width: 676, height: 935 })
  // Text of 16 px over there is to have 11 px here at least.
  const dense = sizeFor({ width: 390, height: 700 }, 3)
  expect((16 * 390) / (dense?.width ?? 0)).toBeGreaterThan(11)
  expect(sizeFor({ width: 390, height: 700 }, 0.5)).toEqual({ width: 390, height: 700 })
})
it('asks for nothing where there is no room', () => {
  expect(sizeFor({ width: 0, height: 700 }, 1)).toBeNull()
})
it('is asked for in one message with one screen of that size', () => {
  expect([...sizeMessage({ width: 0x021d, height: 0x02ec })]).toEqual([
    251, 0, 0x02, 0x1d, 0x02, 0xec, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x1d, 0x02, 0xec, 0, 0, 0, 0,
  ])
})
