// @vitest-environment jsdom
import { describe, expect, it } from 'vitest'
import { renderBlock } from './render'

describe('renderBlock', () => {
  it('lets no markup of the text through', () => {
    const html = renderBlock('<img src=x onerror=alert(1)> <script>x</script> [a](javascript:alert(1))')
    expect(html).not.toMatch(/<(img|script)|href="javascript/)
  })
  it('opens the web elsewhere and names a file where it is one', () => {
    expect(renderBlock('[w](https://example.org)')).toMatch(/target="_blank"/)
    expect(renderBlock('[f](notes/a.md)')).toMatch(/data-path="notes\/a\.md"/)
  })
  it('names a picture instead of fetching it', () => {
    expect(renderBlock('![a <b>](chart.png)')).toMatch(/<a [^>]*data-path="chart\.png"[^>]*>a &lt;b&gt;<\/a>/)
    expect(renderBlock('![](https://example.org/x.png)')).toMatch(/<a [^>]*target="_blank"[^>]*>https:/)
    expect(renderBlock('[![b](b.png)](https://example.org)')).toMatch(/<a href="https:[^>]*>b<\/a>/)
    expect(renderBlock('![x](javascript:alert(1))')).not.toMatch(/<a|<img/)
  })
  it('is written from the side its words ask for, each whole block by itself', () => {
    const sources = ['שלום **a**', '# مرحبا', '- مرحبا\n  - a', '1. مرحبا\n\n   a', '> שלום', '| א |\n|---|\n| ב |']
    for (const source of sources) {
      const html = renderBlock(source)
      expect(html).toMatch(/^<(p|h1|ul|ol|blockquote|div) dir="auto"/)
      // A browser looks for words of a side outside of parts that have their own.
      expect(html.match(/dir=/g)).toHaveLength(1)
    }
  })
  it('takes no file name for a host', () => {
    expect(renderBlock('see notes.md')).not.toMatch(/<a/)
  })
})

it.each([
  ['*word*', '<em>word</em>'],
  ['*请注意*', '<em class="upright dotted">请注意</em>'],
  [`*${'长'.repeat(25)}*`, `<em class="upright">${'长'.repeat(25)}</em>`],
  ['*see **重要** here* and *so*', '<em class="upright dotted">see <strong>重要</strong> here</em> and <em>so</em>'],
])('%s is not slanted where its script has no italic', (source, html) =>
  expect(renderBlock(source)).toBe(`<p dir="auto">${html}</p>\n`),
)

it('keeps how the columns of a table are aligned, as no style', () => {
  const html = renderBlock('| a | b | c |\n|---|:-:|--:|\n| 1 | 2 | 3 |')
  expect(html).toMatch(/<th>a<\/th>\s*<th align="center">b<\/th>\s*<th align="right">c<\/th>/)
  expect(html).toMatch(/<td>1<\/td>\s*<td align="center">2<\/td>\s*<td align="right">3<\/td>/)
  expect(html).not.toContain('style')
})

describe('a list of tasks', () => {
  const task = (source: string): string => renderBlock(source).replaceAll('\n', '')

  it('has a checkbox that shows what is done and can not be changed', () => {
    expect(task('- [x] *tea*\n- [ ] cups')).toBe(
      '<ul dir="auto"><li class="task"><input type="checkbox" disabled="" checked=""><em>tea</em></li>' +
        '<li class="task"><input type="checkbox" disabled="">cups</li></ul>',
    )
    expect(task('1. [X] a\n\n   - [ ] b')).toMatch(/<ol dir="auto">.*checked.*<p>a<\/p>.*<ul>.*disabled="">b/)
  })
  it.each(['- [x]', '- [x](https://example.org)', '- [y] no', '- \\[x] no', '[x] no', '- # [x] no', '- a\n\n  [x] no'])(
    '%j is none',
    (source) => expect(task(source)).not.toMatch(/<input|data-task/),
  )
  it('is not made by a text that looks like its markup', () => {
    const place = '<span data-task="done"></span> <input type="checkbox">'
    const html = renderBlock(`- ${place}\n- \`${place}\`\n- [a](b '${place}')`)
    const shown = document.createElement('div')
    shown.innerHTML = html
    expect(shown.querySelector('input, [data-task]')).toBeNull()
  })
})
