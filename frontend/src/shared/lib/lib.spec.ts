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
    ['🚀 start\r✅ done!', '✅ done!'],
    ['⭐x\rab', 'abx'],
    ['🇩🇪x\rab', 'abx'],
    ['🖥x\ra', 'ax'],
    ['䷀x\ra', 'ax'],
    ['a\u001b[3', 'a'],
    ['a\u001b', 'a'],
    ['a\u001b[?25', 'a'],
    ['a\u001b(', 'a'],
    ['one\ntwo\u001bMX', 'oneX\ntwo'],
    ['one\u001bMX', '   X\none'],
    [`\u001b[H${'x\n'.repeat(39)}last\u001b[H\u001bMnew`, `new\n${'x\n'.repeat(38)}x`],
    ['-\u001b[5b|', '------|'],
    ['🚀\u001b[b\r✅', '✅🚀'],
    ['-\u001b[0b-', '--'],
    ['-\n\u001b[3b', '-\n'],
    ['-\r\u001b[?1049h\u001b[2b', '-\n--'],
    ['a\u0000b\rXY', 'XY'],
  ])('shows %j as a terminal does at its end', (written, shown) => {
    expect(plainOutput(written)).toBe(shown)
  })
  it('is soon done with whatever is written', () => {
    expect(plainOutput(`a\u001b[999999999B\u001b[999999999C\u001b[999999999@x`)).toContain('x')
    expect(plainOutput(`\r${' 50% |#####     |'.repeat(3)}`.repeat(20_000)).length).toBe(51)
  })
  it.each([
    ['moves at the end of a long line', '中'.repeat(20_000) + '\u001b[C'.repeat(20_000)],
    ['a line that grows', `${'中'.repeat(100)}\u001b[C`.repeat(5_000)],
    ['moves between long lines', `${'中'.repeat(1_900)}\n`.repeat(2) + '\u001b[A\u001b[B'.repeat(20_000)],
    ['inserted spaces', `x\r${'\u001b[160@'.repeat(50_000)}`],
    ['erased characters', `x\r${'\u001b[9999X'.repeat(50_000)}`],
    ['columns far away', '\u001b[99999Gx\n'.repeat(20_000)],
    ['a long line and those above it', `${'\n'.repeat(999)}${'x'.repeat(4000)}${'\u001b[Ax'.repeat(20_000)}`],
    ['carriage returns', `\u001b${'\r'.repeat(1_000_000)}x`],
    ['repeated characters', `${'x'.repeat(3_900)}\r${'x\u001b[160b'.repeat(20_000)}`],
    ['lines that go down', `${'x\n'.repeat(1_900)}\u001b[H${'\u001bM'.repeat(100_000)}`],
    ['starts of sequences', `\r${'\u001b[0'.repeat(200_000)}${'0'.repeat(200_000)}`],
    ['spaces', `\r${' '.repeat(300_000)}x`.repeat(3)],
  ])(
    'takes no longer the more was written before: %s',
    (_, written) => {
      const started = performance.now()
      plainOutput(written)
      expect(performance.now() - started).toBeLessThan(20_000)
    },
    60_000,
  )
  it('keeps all of a long line, of which the end can be written over', () => {
    const text = 'x'.repeat(50_000)
    expect(plainOutput(`1\n${text}\b\bY`)).toBe(`1\n${text.slice(2)}Yx`)
    expect(plainOutput(`1 %\r${text}`)).toBe(text)
    expect(plainOutput(`${'😀'.repeat(5_001)}\u001b[0K`)).toBe('😀'.repeat(5_001))
  })
  it('keeps many lines', () => {
    const text = Array.from({ length: 5_000 }, (_, number) => `line ${number}\n`).join('')
    expect(plainOutput(`\u001b[H${text}`)).toBe(text)
  })
  it('moves to no column beyond the screen and the line', () => {
    expect(plainOutput('\u001b[99999Gx')).toBe(`${' '.repeat(159)}x`)
    expect(plainOutput(`${'a'.repeat(300)}\r\u001b[299Gx`)).toBe(`${'a'.repeat(298)}xa`)
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
