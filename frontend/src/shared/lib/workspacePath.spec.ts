// @vitest-environment jsdom
import { describe, expect, it } from 'vitest'
import { renderBlock } from './render'
import { workspacePath } from './workspacePath'

it.each([
  ['notes/tour.md', 'notes/tour.md'],
  ['chart.png', 'chart.png'],
  ['./chart.png', 'chart.png'],
  ['/workspace/chart.png', 'chart.png'],
  ['workspace/chart.png', 'chart.png'],
  ['sandbox:/workspace/chart.png', 'chart.png'],
  ['sandbox:chart.png', 'chart.png'],
  ['sandbox:///workspace/out/chart.png', 'out/chart.png'],
  ['sandbox://workspace/chart.png', 'chart.png'],
  ['SANDBOX:/workspace/chart.png', 'chart.png'],
  ['sandbox:/mnt/data/chart.png', 'chart.png'],
  ['file:///workspace/chart.png', 'chart.png'],
  ['file://localhost/workspace/chart.png', 'chart.png'],
  ['attachment://chart.png', 'chart.png'],
  ['attachment:chart.png', 'chart.png'],
  ['computer:///workspace/chart.png', 'chart.png'],
  ['./a%20b.txt', 'a b.txt'],
  ['a%20%E5%9B%BE.png', 'a 图.png'],
  ['图表.png', '图表.png'],
  ['100%.png', '100%.png'],
  ['a%B1%A8.png', 'a%B1%A8.png'],
  ['report.md#results', 'report.md'],
  ['chart.png?v=2', 'chart.png'],
  ['sandbox:/workspace/a.csv#L3', 'a.csv'],
  ['report%20#2.pdf', 'report #2.pdf'],
  ['main.py:12', 'main.py'],
  ['src/main.py:12', 'src/main.py'],
  ['src/main.py:12:5', 'src/main.py'],
  ['src/main.py:12-20', 'src/main.py'],
  ['sandbox:/workspace/src/main.py:12', 'src/main.py'],
  ['%E5%9B%BE.py:12', '图.py'],
  ['out/10:30', 'out/10:30'],
  ['https://example.org/a.py:12', null],
  ['//example.org:80', null],
  ['localhost:3000', null],
  ['file:///etc/passwd', null],
  ['file:chart.png', null],
  ['https://example.org', null],
  ['//example.org', null],
  ['#top', null],
  ['mailto:a@b', null],
  ['data:image/png;base64,AA', null],
  ['javascript:alert(1)', null],
  ['/api/files/eyJ.a.b', null],
])('%s is %s', (href, path) => expect(workspacePath(href)).toBe(path))

const pathsOf = (source: string): (string | undefined)[] => {
  const shown = document.createElement('div')
  shown.innerHTML = renderBlock(source)
  return [...shown.querySelectorAll<HTMLElement>('a')].map((link) => link.dataset['path'])
}

describe('a path of the workspace in a text', () => {
  it.each([
    ['![sales](chart.png)', 'chart.png'],
    ['![sales](sandbox:/workspace/chart.png)', 'chart.png'],
    ['[sales](sandbox:/workspace/chart.png)', 'chart.png'],
    ['![sales](<sandbox:/workspace/my chart.png>)', 'my chart.png'],
    ['![sales](my chart.png)', 'my chart.png'],
    ['![sales](/workspace/out/my chart (final).png "Sales")', 'out/my chart (final).png'],
    ['[数据](sandbox:/workspace/季度 报告.xlsx)', '季度 报告.xlsx'],
    ['[r](file:///workspace/a.pdf#page=2)', 'a.pdf'],
    ['<sandbox:/workspace/chart.png>', 'chart.png'],
    ['![图](attachment://图表.png)', '图表.png'],
    ['[c](computer:///workspace/a%20b.csv)', 'a b.csv'],
    ['[x](main.py:12)', 'main.py'],
    ['[x](src/main.py:12:3)', 'src/main.py'],
    ['[x](图.py:12)', '图.py'],
    ['| a |\n|---|\n| ![x](./x.png) |', 'x.png'],
  ])('%s names %s', (source, path) => expect(pathsOf(source)).toEqual([path]))
  it.each([
    '[note](this is no file)',
    '[x](file:///etc/passwd)',
    '[x](javascript:alert(1) .png)',
    '[x](https://example.org/a b.png)',
    '[x](data:text/html,1 a.html)',
    '[x](my "chart.png)',
  ])('%s names none', (source) => expect(pathsOf(source).filter(Boolean)).toEqual([]))
  it('is called by its name where it has no words', () => {
    expect(renderBlock('![](图.png)')).toMatch(/>图\.png<\/a>/)
    expect(renderBlock('![](sandbox:/workspace/out/a%20b%3C.png)')).toMatch(/>out\/a b&lt;\.png<\/a>/)
    expect(renderBlock('![](https://example.org/%E5%9B%BE.png)')).toMatch(/>https:\/\/example.org\/%E5%9B%BE\.png<\/a>/)
    expect(renderBlock('![](图.png?to=me)', { isWrittenOut: true })).toContain('to=me')
  })
  it('keeps a title, and what follows', () => {
    expect(renderBlock('see ![a](my chart.png "Sales") (here).')).toMatch(/<a [^>]*>a<\/a> \(here\)\./)
    expect(renderBlock('[a](b.md "title") and (c d.png)')).toMatch(/title="title"[^>]*>a<\/a> and \(c d.png\)/)
  })
})
