// @vitest-environment jsdom
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renderBlock } from './render'
import { settleTail } from './settleTail'

const shown = (source: string): string => {
  const element = document.createElement('div')
  element.innerHTML = renderBlock(settleTail(source))
  return element.textContent?.trim() ?? ''
}

describe('Markdown that is still being written', () => {
  it.each([
    ['**bold', '<strong>bold</strong>'],
    ['**bold ', '<strong>bold</strong>'],
    ['**bold*', '<strong>bold</strong>'],
    ['a *soft', 'a <em>soft</em>'],
    ['a _soft', 'a <em>soft</em>'],
    ['**both *of', '<strong>both <em>of</em></strong>'],
    ['***all of', '<em><strong>all of</strong></em>'],
    ['这是**重点', '这是<strong>重点</strong>'],
    ['~~gone', '<s>gone</s>'],
    ['run `ls -l', 'run <code>ls -l</code>'],
    ['**run `ls', '<strong>run <code>ls</code></strong>'],
    ['- one\n- **two', '<strong>two</strong>'],
    ['**done** and **more', '<strong>done</strong> and <strong>more</strong>'],
  ])('%j shows %j', (source, html) => expect(renderBlock(settleTail(source))).toContain(html))

  it.each([
    ['a *', 'a'],
    ['a **', 'a'],
    ['a `', 'a'],
    ['*', ''],
    ['- one\n*', 'one'],
    ['- one\n- [', 'one'],
    ['- one\n- [x', 'one'],
    ['- one\n- [ ] ', 'one'],
    ['words\n--', 'words'],
    ['words\n1', 'words'],
    ['see [the page', 'see [the page'],
    ['see [the page](https://exam', 'see the page'],
    ['a \\', 'a'],
  ])('%j shows no mark: %j', (source, text) => expect(shown(source)).toBe(text))

  it.each([
    '2 * 3 is',
    'a*b',
    'all *.txt files',
    'snake_case_name',
    'a ~ b',
    '**done** and',
    'say "hi"',
    '`a*b` c',
    '\\*no',
  ])('%j stays as it is', (source) => expect(settleTail(source)).toBe(source))

  it('never throws and never adds words', () => {
    const piece = fc.constantFrom(
      '*',
      '**',
      '_',
      '`',
      '``',
      '~~',
      '[',
      '](',
      ')',
      '\\',
      ' ',
      '\n',
      'a',
      'b',
      '重',
      '-',
      '|',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const source = pieces.join('')
        const words = (text: string): string => text.replace(/[^ab重]/g, '')
        expect(words(source).startsWith(words(settleTail(source)))).toBe(true)
      }),
    )
  })
})
