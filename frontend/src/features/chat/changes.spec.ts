import { expect, it } from 'vitest'
import { changesOf } from './changes'
import type { EndItem, Item } from './transcript'

const end = (files: readonly string[]) => ({ kind: 'end', key: 'e', files }) as unknown as EndItem
const call = (display: object, given: object = {}, outcome = 'succeeded') =>
  ({ kind: 'tool', inner: [], outcome, display, arguments: given }) as unknown as Item
const wrote = (path: string, content: string) => call({ type: 'file', path, operation: 'write' }, { content })

it('counts the lines that edits and writes of this run added and removed', () => {
  const edited = call({
    type: 'diff',
    path: '/workspace/a.py',
    diff: '--- a.py\n+++ a.py\n@@ -1 +1,2 @@\n-x\n+y\n+z\n',
  })
  const failed = call({ type: 'diff', path: 'a.py', diff: '+never' }, {}, 'failed')
  const last = end(['a.py', 'b.md', 'c.png'])
  const changes = changesOf(
    [wrote('b.md', 'before'), end(['b.md']), edited, failed, wrote('b.md', '1\n2\n'), last],
    last,
  )
  expect(changes.map(({ path, added, removed, isKnown }) => [path, added, removed, isKnown])).toEqual([
    ['a.py', 2, 1, true],
    ['b.md', 2, 0, true],
    ['c.png', 0, 0, false],
  ])
})

it('tells what a file lost that was written over, and counts nothing where that is not known', () => {
  const over = (path: string, more: object, content = 'new') =>
    call({ type: 'file', path, operation: 'write', ...more }, { content })
  const last = end(['known.txt', 'made.txt', 'blind.txt', 'same.txt'])
  const changes = changesOf(
    [
      over('known.txt', { replaced: true, diff: '@@ -1 +1 @@\n-hello\n+new' }),
      over('made.txt', { replaced: false, diff: null }),
      over('made.txt', { replaced: true, diff: null }),
      over('blind.txt', { replaced: true, diff: null }),
      over('same.txt', { replaced: true, diff: '' }),
      last,
    ],
    last,
  )
  expect(changes.map((one) => [one.path, one.added, one.removed, one.isKnown, one.isRewritten])).toEqual([
    ['known.txt', 1, 1, true, false],
    ['made.txt', 2, 0, true, false],
    ['blind.txt', 1, 0, true, true],
    ['same.txt', 0, 0, true, false],
  ])
  expect(changes[3]?.diffs).toEqual([])
})
