import { expect, it } from 'vitest'
import { added, shellText, type ShellEntry } from './shellText'

const entry = (command: string, output: string, isRunning = false): ShellEntry => ({
  id: command,
  command,
  output,
  isRunning,
})
const plain = (text: string) => text.replace(/\u001b\[[0-9;]*m/g, '')

it('shows commands with what came of them, each beginning on a line of its own', () => {
  const text = shellText([entry('ls', 'a\nb'), entry('true', ''), entry('pwd', '/work\n')])
  expect(plain(text)).toBe('$ ls\na\nb\n\n$ true\n\n$ pwd\n/work\n\n')
})

it('keeps the colours that a program wrote, and ends them with its command', () => {
  expect(shellText([entry('x', '\u001b[31mred')])).toContain('\u001b[31mred\u001b[0m\n')
})

it('is only added to while a command runs', () => {
  const first = shellText([entry('make', 'one\n', true)])
  const more = shellText([entry('make', 'one\ntwo\n', true)])
  const done = shellText([entry('make', 'one\ntwo\n'), entry('ls', '')])
  expect(added(first, more)).toBe('two\n')
  expect(added(more, done)).not.toBeNull()
  expect(added(done, first)).toBeNull()
})
