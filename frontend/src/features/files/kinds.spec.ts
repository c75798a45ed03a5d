import { describe, expect, it } from 'vitest'
import { kindOf, parseCsv, separatorOf } from './kinds'

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

describe('separatorOf', () => {
  it.each([
    ['a.csv', 'Name;Preis;Größe\r\nMüller;3,50;groß\r\n', ';'],
    ['a.csv', '3,50;groß\n4,10;klein', ';'],
    ['a.csv', 'name,note\nMüller,"a;b"\n"x, y",c;d\n\n', ','],
    ['a.csv', 'name\tnote\nMüller\ta, b\n', '\t'],
    ['a.csv', 'name|note\nMüller|a, b\n', '|'],
    ['a.csv', 'name,"two\nlines; of it"\nMüller,b\n', ','],
    ['a.csv', 'name,note\nMüller\nHuber,b,c', ','],
    ['a.csv', 'name\nMüller; Huber', ','],
    ['a.csv', '', ','],
    ['a.csv', `name;note\n${'Müller;3,50\n'.repeat(9_000)}`, ';'],
    ['a.TSV', 'a,b\nc,d', '\t'],
  ])('of %s with %j', (name, text, separator) => expect(separatorOf(name, text)).toBe(separator))
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
