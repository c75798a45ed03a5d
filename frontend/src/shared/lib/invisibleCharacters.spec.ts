import { describe, expect, it } from 'vitest'
import { showInvisible, showInvisibleInProse, nameInText } from './invisibleCharacters'

const hidden = 'ls \u202E\u2066; rm -rf work \u2069\u{E0041}a\rb\u200Bc\u2028\nd\te'
const seen = 'ls ⟨U+202E⟩⟨U+2066⟩; rm -rf work ⟨U+2069⟩⟨U+E0041⟩a⟨U+000D⟩b⟨U+200B⟩c⟨U+2028⟩\nd\te'

describe('a character that can’t be seen', () => {
  it('is written out in commands and in prose', () => {
    expect(showInvisible(hidden)).toBe(seen)
    expect(showInvisibleInProse(hidden)).toBe(seen)
    expect(showInvisible('运行 résumé 🦊')).toBe('运行 résumé 🦊')
    expect(showInvisible('a\u200Db')).toBe('a⟨U+200D⟩b')
  })
  it('stays in prose where words and emoji are written with it, and nowhere else', () => {
    for (const text of [
      'می\u200Cخواهم',
      'क्\u200Dष',
      '👨\u200D👩\u200D👧',
      '❤\uFE0F\u200D🔥',
      '1\uFE0F\u20E3',
      'a\r\nb',
    ])
      expect(showInvisibleInProse(text)).toBe(text.replace('\r\n', '\n'))
    expect(showInvisibleInProse('y\u200Ces n\u200Do \uFE0F')).toBe('y⟨U+200C⟩es n⟨U+200D⟩o ⟨U+FE0F⟩')
    expect(showInvisibleInProse('👨\u200D')).toBe('👨⟨U+200D⟩')
  })
  it('of a file’s name is written out, and the name set apart from the sentence it stands in', () => {
    expect(nameInText('notes (1).txt')).toBe('notes (1).txt')
    expect(nameInText('a\u202Etxt.exe')).toBe('a⟨U+202E⟩txt.exe')
    expect(nameInText('سلام.txt')).toBe('\u2066سلام.txt\u2069')
  })
})
