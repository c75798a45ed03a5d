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
