import { describe, expect, it } from 'vitest'
import { begunAt, completed, fitting, inFolder, type Completion } from './completion'

const offer = (label: string, insert: string | null = null): Completion => ({ id: label, label, hint: '', insert })

describe('what was begun before the caret', () => {
  it.each([
    ['/', 1, { kind: 'command', query: '', from: 0 }],
    ['/co', 3, { kind: 'command', query: 'co', from: 0 }],
    ['see @', 5, { kind: 'file', query: '', from: 4 }],
    ['@src/a', 6, { kind: 'file', query: 'src/a', from: 0 }],
    ['看（@文', 4, { kind: 'file', query: '文', from: 2 }],
    ['see @src and', 8, { kind: 'file', query: 'src', from: 4 }],
    ['see /co', 7, null],
    ['/etc/hosts', 10, null],
    ['/co mmand', 9, null],
    ['/mode re', 8, { kind: 'command', query: 'mode re', from: 0 }],
    ['/mode re x', 10, null],
    ['a@b.org', 7, null],
    ['', 0, null],
  ])('in %s at %i', (text, caret, begun) => expect(begunAt(text, caret)).toEqual(begun))
})
it('looks into the folder that is written so far', () => {
  expect(inFolder('src/deep/na')).toEqual({ folder: 'src/deep', name: 'na' })
  expect(inFolder('na')).toEqual({ folder: '', name: 'na' })
})
it('puts what begins alike before what holds it, and offers no more than a few', () => {
  const all = ['/compact', '/acorn', '/co'].map((label) => offer(label))
  expect(fitting(all, 'co').map(({ label }) => label)).toEqual(['/compact', '/acorn', '/co'])
  expect(fitting(all, '/CO').map(({ label }) => label)).toEqual(['/compact', '/co'])
  expect(
    fitting(
      Array.from({ length: 50 }, (_, at) => offer(`/${at}`)),
      '/',
    ),
  ).toHaveLength(8)
})
it('writes the choice in place of what was begun and keeps the rest', () => {
  const begun = { kind: 'file', query: 'a', from: 4 } as const
  expect(completed('see @a now', 6, begun, offer('a.md', '`a.md` '))).toEqual({ text: 'see `a.md`  now', caret: 11 })
  expect(completed('/st', 3, { kind: 'command', query: 'st', from: 0 }, offer('/stop'))).toEqual({ text: '', caret: 0 })
})
