import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitBlocks } from './blocks'

const line = fc.constantFrom(
  '# Title',
  'words',
  '- item',
  '  more',
  '1. one',
  '```python',
  '```',
  '> quote',
  '',
  '',
  '| a | b |',
  '|---|---|',
  '| 1 | 2 |',
  '---',
  '    code',
)

describe('splitBlocks', () => {
  it('takes a code fence as code and keeps its language', () => {
    expect(splitBlocks('say\n\n```py\nx\n```\n')).toMatchObject([
      { kind: 'prose' },
      { kind: 'code', source: 'x\n', language: 'py' },
    ])
  })
  it('gives the same blocks however the text arrived', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 24 }), fc.array(fc.nat(300), { maxLength: 10 }), (lines, cuts) => {
        const text = lines.join('\n')
        let shown = ''
        let blocks = splitBlocks('')
        for (const cut of [...cuts.map((at) => Math.min(at, text.length)).sort((a, b) => a - b), text.length]) {
          const next = text.slice(0, cut)
          blocks = splitBlocks(next, blocks, shown)
          shown = next
        }
        expect(blocks).toEqual(splitBlocks(text))
      }),
      { numRuns: 1000 },
    )
  })
  it('makes a line cut short a part of the list before once it is whole', () => {
    const short = '1. one\n  more\n\n1'
    const whole = `${short}. two`
    expect(splitBlocks(whole, splitBlocks(short), short)).toEqual(splitBlocks(whole))
  })
  it('keeps finished blocks as they were', () => {
    const before = splitBlocks('one\n\ntwo\n\nthree\n\nfou')
    const after = splitBlocks('one\n\ntwo\n\nthree\n\nfour', before, 'one\n\ntwo\n\nthree\n\nfou')
    expect(after[0]).toBe(before[0])
    expect(after[1]).toBe(before[1])
  })
})
