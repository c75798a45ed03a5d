import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plainOutput } from './ansi'
import { countPoints, indexOfPoint } from './codepoints'
import { formatDuration, formatSize } from './format'
import { keepTail } from './pieces'

describe('code points', () => {
  it('are counted and found as iteration does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, point) => {
        const points = [...text]
        expect(countPoints(text)).toBe(points.length)
        expect(indexOfPoint(text, point)).toBe(points.slice(0, point).join('').length)
      }),
    )
  })
  it('are never cut in two', () => {
    expect(keepTail('a😀b', 2)).toBe('b')
  })
})

describe('plainOutput', () => {
  it('leaves out colours and titles', () => {
    expect(plainOutput('\u001b[1;32mok\u001b[0m \u001b]0;title\u0007done')).toBe('ok done')
  })
  it('shows the last state of a line written over', () => {
    expect(plainOutput('10%\r50%\r100%\nend\r\n')).toBe('100%\nend\n')
  })
  it.each([
    ['abc\rX', 'Xbc'],
    ['abc\b\bX', 'aXc'],
    ['one\ntwo\n\u001b[2A\u001b[Kone: done\n\u001b[2Ktwo: done\n', 'one: done\ntwo: done\n'],
    ['a\nb\nc\n\u001b[2A\u001b[Jend', 'a\nend'],
    ['junk\n\u001b[H\u001b[2Jnow', 'now'],
    ['a\u001b[?1049heditor\u001b[?1049lb', 'ab'],
    ['你好\rX', 'X 好'],
    ['a\tb\rXY', 'XY      b'],
    ['a\tb\n\u001b[32mc\u001b[0m', 'a\tb\nc'],
    ['a\u001b[5Bx', `a${'\n'.repeat(5)} x`],
    [`${'x'.repeat(500)}\n`, `${'x'.repeat(500)}\n`],
  ])('shows %j as a terminal does at its end', (written, shown) => {
    expect(plainOutput(written)).toBe(shown)
  })
  it('is soon done with whatever is written', () => {
    expect(plainOutput(`a\u001b[999999999B\u001b[999999999C\u001b[999999999@x`)).toContain('x')
    expect(plainOutput(`\r${' 50% |#####     |'.repeat(3)}`.repeat(20_000)).length).toBe(51)
  })
})

describe('formats', () => {
  it.each([
    [740, '740 ms'],
    [1840, '1.8 s'],
    [999.7, '1.0 s'],
    [9_949, '9.9 s'],
    [9_970, '10 s'],
    [59_400, '59 s'],
    [59_700, '1 min 0 s'],
    [119_700, '2 min 0 s'],
    [3_599_600, '1 h 0 min'],
    [125_000, '2 min 5 s'],
  ])('%i ms reads %s', (ms, text) => expect(formatDuration(ms)).toBe(text))
  it.each([
    [412, '412 B'],
    [1_228, '1.2 kB'],
    [10_485_760, '10 MB'],
  ])('%i bytes read %s', (bytes, text) => expect(formatSize(bytes)).toBe(text))
})
