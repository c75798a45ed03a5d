// @vitest-environment jsdom
import fc from 'fast-check'
import MarkdownIt from 'markdown-it'
import { describe, expect, it } from 'vitest'
import { withEmphasis } from './emphasis'
import { renderBlock } from './render'
import { settleTail } from './settleTail'

const markdown = new MarkdownIt()
withEmphasis(markdown)
const plain = new MarkdownIt()
const shown = (source: string): string => markdown.renderInline(source).replaceAll('&quot;', '"')

describe('emphasis beside punctuation of a script without blanks', () => {
  it.each([
    ['**开源：**代码', '<strong>开源：</strong>代码'],
    ['（**重点**）', '（<strong>重点</strong>）'],
    ['（**…**）', '（<strong>…</strong>）'],
    ['**《红楼梦》**的', '<strong>《红楼梦》</strong>的'],
    ['是**“引号”**的', '是<strong>“引号”</strong>的'],
    ['中文**（重点）**中文', '中文<strong>（重点）</strong>中文'],
    ['**"Hello"**世界', '<strong>"Hello"</strong>世界'],
    ['增长**100%**的', '增长<strong>100%</strong>的'],
    ['**注意!**后面', '<strong>注意!</strong>后面'],
    ['**重点：**text', '<strong>重点：</strong>text'],
    ['**（一）**A', '<strong>（一）</strong>A'],
    ['***粗斜。***后', '<em><strong>粗斜。</strong></em>后'],
    ['**粗*斜。*粗**后', '<strong>粗<em>斜。</em>粗</strong>后'],
    ['*斜，*后', '<em>斜，</em>后'],
    ['~~删除。~~后面', '<s>删除。</s>后面'],
    ['**[链接](https://a.b)**后', '<strong><a href="https://a.b">链接</a></strong>后'],
    ['字**`code`。**后', '字<strong><code>code</code>。</strong>后'],
    ['**この文を強調できますか（はい）？**この', '<strong>この文を強調できますか（はい）？</strong>この'],
    ['これは**「重要」**です', 'これは<strong>「重要」</strong>です'],
    ['**이 용어(This term)**를', '<strong>이 용어(This term)</strong>를'],
    ['**태그:**값', '<strong>태그:</strong>값'],
    ['_强调。_后面', '<em>强调。</em>后面'],
    ['前_（强调）_后', '前<em>（强调）</em>后'],
    ['变量_名称_值', '变量_名称_值'],
  ])('%s', (source, html) => expect(shown(source)).toBe(html))

  it.each([
    'a **b** c',
    'A**"b"**C',
    '**50%**of',
    'snake_case_name and 2 * 3 * 4',
    'a*"foo"*',
    '**foo bar **',
    '_foo._bar',
    'foo-_(bar)_',
    '**Gomphocarpus (*Gomphocarpus physocarpus*, syn.)**',
    '*(**foo**)*',
    '~~a.~~b',
    'пристаням_стремятся_',
    '**😀.**a',
  ])('of other scripts is as CommonMark has it: %s', (source) =>
    expect(markdown.renderInline(source)).toBe(plain.renderInline(source)),
  )
  it('of any text in Latin letters is as CommonMark has it', () => {
    const piece = fc.constantFrom('a', 'é', '*', '**', '***', '_', '__', '~~', ' ', '"', '.', '(', ')', '“', '€', '🎉')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        expect(markdown.renderInline(pieces.join(''))).toBe(plain.renderInline(pieces.join('')))
      }),
      { numRuns: 2000 },
    )
  })
  it.each([
    ['中**《书', '<strong>《书</strong>'],
    ['**“引', '<strong>“引</strong>'],
    ['**开源：', '<strong>开源：</strong>'],
    ['**🎉 重', '<strong>🎉 重</strong>'],
    ['**开源：**代', '<strong>开源：</strong>代'],
  ])('is shown while it is written: %s', (source, html) => expect(renderBlock(settleTail(source))).toContain(html))
})

describe('a bare address', () => {
  it.each([
    ['见 https://a.b/c。后面', '见 ', 'https://a.b/c', '。后面'],
    ['见https://a.b/c，再看', '见', 'https://a.b/c', '，再看'],
    ['（https://a.b/c）后', '（', 'https://a.b/c', '）后'],
    ['「https://a.b/?q=1」です', '「', 'https://a.b/?q=1', '」です'],
    ['打开https://example.com后面', '打开', 'https://example.com', '后面'],
    ['http://example.com:8080的页面', '', 'http://example.com:8080', '的页面'],
    ['在http://localhost:5173查看', '在', 'http://localhost:5173', '查看'],
    ['https://zh.wikipedia.org/wiki/中文。', '', 'https://zh.wikipedia.org/wiki/中文', '。'],
    ['see https://a.b/c. Then', 'see ', 'https://a.b/c', '. Then'],
    ['https://例子.测试/路径', '', 'https://例子.测试/路径', ''],
  ])('%s ends before the punctuation', (source, before, address, after) => {
    const element = document.createElement('div')
    element.innerHTML = renderBlock(source)
    const link = element.querySelector('a')
    expect([link?.previousSibling?.textContent ?? '', link?.textContent, link?.nextSibling?.textContent ?? '']).toEqual(
      [before, address, after],
    )
  })
  it('is one of several with nothing but a comma between them', () => {
    expect(renderBlock('https://a.b/c，https://d.e/f（官网）').match(/<a /g)).toHaveLength(2)
  })
})

describe('a line break within a cell', () => {
  it('is written as HTML writes it, and nothing else is', () => {
    expect(renderBlock('| a |\n|---|\n| one<br>two<br/>three<BR />four |')).toMatch(
      /<td>one<br>\s*two<br>\s*three<br>\s*four<\/td>/,
    )
    expect(renderBlock('a <b>b</b> `<br>` <brx>')).toContain('&lt;b&gt;b&lt;/b&gt; <code>&lt;br&gt;</code> &lt;brx&gt;')
  })
  it('leaves lists their numbers', () => {
    expect(renderBlock('3. three\n4. four')).toMatch(/<ol start="3" dir="auto">|<ol dir="auto" start="3">/)
  })
})
