import { expect, it } from 'vitest'
import { plainWords } from './plainWords'

it.each([
  ['Amy digs. **Stay** with the `water`.', 'Amy digs. Stay with the water.'],
  ['\n# Found\n\nAll of it.', 'Found'],
  ['- [one](https://x.org) a\n- two', 'one a'],
  ['first\nline', 'first line'],
  ['```\nls -l\ncd\n```', 'ls -l cd'],
  ['2 * 3 < 7', '2 * 3 < 7'],
  [' \n ', ''],
  [`It grows [rec_${'0a'.repeat(16)}, s2].`, 'It grows.'],
])('of %j are %j', (text, words) => {
  expect(plainWords(text)).toBe(words)
})
