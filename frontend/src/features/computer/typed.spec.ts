import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BACKSPACE, namedKey, pressesBetween, symbolOf } from './typed'

describe('what is typed on a screen', () => {
  it.each([
    ['a', 0x61],
    ['é', 0xe9],
    ['€', 0x010020ac],
    ['你', 0x01004f60],
    ['😀', 0x0101f600],
    ['\n', 0xff0d],
  ])('%j is key symbol %i', (character, symbol) => {
    expect(symbolOf(character)).toBe(symbol)
  })
  it('is sent as what was added, and taken back where a word was corrected', () => {
    expect(pressesBetween('__', '__l')).toEqual([0x6c])
    expect(pressesBetween('__teh', '__the ')).toEqual([BACKSPACE, BACKSPACE, 0x68, 0x65, 0x20])
    expect(pressesBetween('__', '_')).toEqual([BACKSPACE])
  })
  it('leaves the same text there as here', () => {
    const text = fc.string({ unit: 'grapheme' })
    fc.assert(
      fc.property(text, text, (before, after) => {
        const there = [...before]
        for (const press of pressesBetween(before, after))
          if (press === BACKSPACE) there.pop()
          else there.push([...after].find((one) => symbolOf(one) === press) ?? '?')
        expect(there.join('')).toBe(after)
      }),
    )
  })
  it('knows the keys that type nothing', () => {
    expect([namedKey('Escape'), namedKey('a'), namedKey('Unidentified')]).toEqual([0xff1b, null, null])
  })
})
