import fc from 'fast-check'
import { expect, it } from 'vitest'
import { lineDiff } from './lineDiff'

const text = (...lines: string[]): string => lines.join('\n')

it('shows what changes with three lines around it, and how many are left out', () => {
  const before = Array.from({ length: 20 }, (_, at) => `line ${at}`)
  const after = before.with(10, 'another')
  expect(lineDiff(text(...before), text(...after))).toEqual([
    { kind: 'skipped', count: 7 },
    ...['line 7', 'line 8', 'line 9'].map((same) => ({ kind: 'same', text: same })),
    { kind: 'gone', text: 'line 10' },
    { kind: 'new', text: 'another' },
    ...['line 11', 'line 12', 'line 13'].map((same) => ({ kind: 'same', text: same })),
    { kind: 'skipped', count: 6 },
  ])
  expect(lineDiff('a\nb', 'a\nb')).toEqual([{ kind: 'skipped', count: 2 }])
  expect(lineDiff('a', 'a\n')).toEqual([
    { kind: 'same', text: 'a' },
    { kind: 'new', text: '' },
  ])
})
it('leaves out no change, whatever the texts', () => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 })
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const diff = lineDiff(text(...before), text(...after))
      const count = (...kinds: string[]): number =>
        diff.reduce((sum, one) => sum + (one.kind === 'skipped' ? one.count : kinds.includes(one.kind) ? 1 : 0), 0)
      expect(count('same', 'gone')).toBe(Math.max(before.length, 1))
      expect(count('same', 'new')).toBe(Math.max(after.length, 1))
      const shown = (...kinds: string[]): string[] =>
        diff.flatMap((one) => (one.kind !== 'skipped' && kinds.includes(one.kind) ? [one.text] : []))
      for (const line of shown('new')) expect(after.length ? after : ['']).toContain(line)
      for (const line of shown('gone')) expect(before.length ? before : ['']).toContain(line)
    }),
  )
})
it('takes large texts that share nothing', () => {
  const many = (word: string): string => Array.from({ length: 5000 }, (_, at) => `${word} ${at}`).join('\n')
  expect(lineDiff(many('a'), many('b'))).toHaveLength(10_000)
})
