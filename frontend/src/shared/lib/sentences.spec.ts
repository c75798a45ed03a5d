import { expect, it } from 'vitest'
import { sentences } from './sentences'

it('has a space between sentences where the language has one', () => {
  expect(sentences('en', ['One.', '', 'Two.'])).toBe('One. Two.')
  expect(sentences('zh', ['一。', '', '二。'])).toBe('一。二。')
})
