import fc from 'fast-check'
import { expect, it } from 'vitest'
import { mergeTexts } from './mergeTexts'

const BASE = 'One.\n\nTwo.\n\nThree.'

it.each([
  ['different lines', 'ONE.\n\nTwo.\n\nThree.', 'One.\n\nTwo.\n\nTHREE.', 'ONE.\n\nTwo.\n\nTHREE.'],
  [
    'what is put in after a changed line',
    `${BASE}\n\nFour.`,
    'One.\n\nTwo.\n\nTHREE.',
    'One.\n\nTwo.\n\nTHREE.\n\nFour.',
  ],
  ['what is put in before it', `Zero.\n\n${BASE}`, 'ONE.\n\nTwo.\n\nThree.', 'Zero.\n\nONE.\n\nTwo.\n\nThree.'],
  ['the same change of both, once', 'One.\n\n2.\n\nThree.', 'One.\n\n2.\n\nTHREE.', 'One.\n\n2.\n\nTHREE.'],
  ['one that is gone', 'One.\n\nThree.', 'One.\n\nTwo.\n\nTHREE.', 'One.\n\nTHREE.'],
])('puts together %s', (_, mine, theirs, merged) => {
  expect(mergeTexts(BASE, mine, theirs)).toBe(merged)
  expect(mergeTexts(BASE, theirs, mine)).toBe(merged)
})
it.each([
  ['one line', 'One!\n\nTwo.\n\nThree.', 'One?\n\nTwo.\n\nThree.'],
  ['what is put in at one place', `${BASE}\n\nMine.`, `${BASE}\n\nTheirs.`],
  ['a line that is gone and changed', 'One.\n\nThree.', 'One.\n\nTWO.\n\nThree.'],
])('does not decide between two changes of %s', (_, mine, theirs) => {
  expect(mergeTexts(BASE, mine, theirs)).toBeNull()
})
it('loses nothing of a change where the other text has none', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 20 }).map((some) => some.join('\n'))
  fc.assert(
    fc.property(lines, lines, (base, mine) => {
      expect(mergeTexts(base, mine, base)).toBe(mine)
      expect(mergeTexts(base, base, mine)).toBe(mine)
      expect(mergeTexts(base, mine, mine)).toBe(mine)
    }),
  )
})
