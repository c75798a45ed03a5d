import { describe, expect, it } from 'vitest'
import { lineWrap } from './lineWrap'

const wraps = (text: string) => lineWrap(text).includes('pre-wrap')

describe('a line that is too wide', () => {
  it.each([
    'Filesystem      Size  Used Avail Use% Mounted on\n/dev/vda1       252G   50G  202G  20% /\n',
    'PID\tCOMMAND\n1\tinit\n22\tpython3\n',
    '| Kind | Minutes |\n|---|---|\n| Green | 2 |',
    '┌────┬────┐\n│ a  │ b  │\n└────┴────┘',
  ])('scrolls where it is one of a table: %s', (text) => expect(wraps(text)).toBe(false))

  it.each([
    'Linux host 6.1.0 #1 SMP x86_64 GNU/Linux',
    'One sentence.  And another one.  As typists write.\nA third!  A fourth?  And so on.',
    'def f():\n    if x:\n        return 1\n',
    'name:  one alone',
    '',
  ])('wraps where it is words or a command: %s', (text) => expect(wraps(text)).toBe(true))

  it('is found quickly in a long text', () => {
    const began = performance.now()
    lineWrap(`${'a'.repeat(200_000)}\n${'| '.repeat(100_000)}\n${' '.repeat(100_000)}b`)
    expect(performance.now() - began).toBeLessThan(500)
  })
})
