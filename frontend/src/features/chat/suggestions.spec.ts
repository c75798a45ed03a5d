import { expect, it } from 'vitest'
import { suggestionsIn } from './suggestions'

it.each([
  ['Done.\n\nTry next: `run ls`, `list the files`, or `run ls`.', ['run ls', 'list the files']],
  ['好了。\n\n接下来可以试试：`列出文件`。', ['列出文件']],
  ['Try next: `run ls`.\n\nThat is all.', []],
  ['The command is `ls`.', []],
  ['Try next: `a`, `b`, `c`, `d`, `e`', ['a', 'b', 'c']],
])('finds what can be asked for next: %s', (text, found) => expect(suggestionsIn(text)).toEqual(found))
