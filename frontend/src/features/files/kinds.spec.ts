import { describe, expect, it } from 'vitest'
import { kindOf, parseCsv } from './kinds'

describe('parseCsv', () => {
  it('reads quotes, separators and line breaks inside quotes', () => {
    expect(parseCsv('a,"b, ""c"""\r\n"two\nlines",d', ',', 10)).toEqual([
      ['a', 'b, "c"'],
      ['two\nlines', 'd'],
    ])
  })
  it('stops at the wished number of rows', () => {
    expect(parseCsv('1\n2\n3', ',', 2)).toEqual([['1'], ['2']])
  })
})

describe('kindOf', () => {
  it.each([
    ['a.PNG', true, 'image'],
    ['a.pdf', true, 'pdf'],
    ['a.bin', true, 'binary'],
    ['a.md', false, 'markdown'],
    ['a.HTM', false, 'html'],
    ['a.xhtml', false, 'html'],
    ['a.html', true, 'binary'],
    ['a.tsv', false, 'csv'],
    ['Makefile', false, 'code'],
  ])('%s is shown as it should', (name, binary, kind) => {
    expect(kindOf({ name, binary, content: binary ? null : '', language: null })).toBe(kind)
  })
})
