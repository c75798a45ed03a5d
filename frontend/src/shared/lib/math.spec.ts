// @vitest-environment jsdom
import { describe, expect, it, vi } from 'vitest'
import { splitBlocks } from './blocks'
import { isMathReady } from './math'
import { begunFormula, formulaAt } from './mathSyntax'
import { renderBlock } from './render'
import { settleTail } from './settleTail'

const texOf = (text: string): string[] => {
  const found: string[] = []
  for (let at = 0; at < text.length;) {
    const formula = formulaAt(text, at)
    if (formula) found.push(formula.tex)
    at = formula?.end ?? at + 1
  }
  return found
}

describe('a formula', () => {
  it.each([
    ['so $x^2$ is', ['x^2']],
    ['$a$, $b$ and \\(c_1\\)', ['a', 'b', 'c_1']],
    ['is $$E = mc^2$$ then \\[ \\frac{1}{2} \\]', ['E = mc^2', '\\frac{1}{2}']],
    ['$2x$ and $5 < 6$', ['2x', '5 < 6']],
  ])('is found in %s', (text, found) => expect(texOf(text)).toEqual(found))
  it.each([
    'costs $5 and then $10',
    '$5-$10',
    'between 5$ and 6$',
    'cost $5 (or 6$)',
    '$HOME and $PATH',
    '$A/$B',
    'a \\[note\\] in brackets',
    'US$5 to US$6',
    '$ x $',
    '价格$5和$10',
    '约$5，共10$。',
    '从$5到10$不等',
    '\\(\\)',
  ])('is not seen in %s', (text) => expect(texOf(text)).toEqual([]))
  it('keeps its lines together, whatever they begin with', () => {
    const text = 'So:\n$$\na\n= b\n- c\n\n+ d\n$$\nand on'
    expect(splitBlocks(text).map(({ source }) => source)).toEqual(['So:\n', '$$\na\n= b\n- c\n\n+ d\n$$\n', 'and on'])
    expect(splitBlocks('$$\nnever ends')).toHaveLength(1)
  })
  it('is its source until it can be set, and then has its words for who does not see it', async () => {
    expect(renderBlock('so $x^2 < 3$')).toBe(
      '<p dir="auto">so <span class="formula"><code>x^2 &lt; 3</code></span></p>\n',
    )
    await vi.waitFor(() => expect(isMathReady()).toBe(true), { timeout: 5000 })
    const html = renderBlock('so $x^2 < 3$')
    expect(html).toMatch(/<math .*<annotation encoding="application\/x-tex">x\^2 &lt; 3<\/annotation>/)
    expect(html).toMatch(/class="katex-html" aria-hidden="true"/)
    expect(renderBlock('$$\n\\sqrt{x}\n$$')).toMatch(
      /^<span class="formula displayed"><span class="katex-display">.*<svg/,
    )
    expect(renderBlock('a $\\nonsense{x}$')).toMatch(/<code>\\nonsense\{x\}<\/code>/)
    expect(renderBlock('`$x$`')).toBe('<p dir="auto"><code>$x$</code></p>\n')
  })
  it('lets nothing of a text through that acts', async () => {
    await vi.waitFor(() => expect(isMathReady()).toBe(true), { timeout: 5000 })
    for (const tex of [
      '\\href{javascript:alert(1)}{x}',
      '\\includegraphics{https://example.org/x.png}',
      '\\htmlStyle{position:fixed}{x}',
      '\\text{<img src=x onerror=alert(1)>}',
    ])
      expect(renderBlock(`$${tex}$`)).not.toMatch(/<img|href="|style="position/)
    expect(renderBlock('[a](b.md "<span data-formula=\\"0\\"></span>") $x$').match(/class="katex"/g)).toHaveLength(1)
  })
  it('is its source where somebody decides by what they read', async () => {
    await vi.waitFor(() => expect(isMathReady()).toBe(true), { timeout: 5000 })
    const hidden = 'Tidy up $\\phantom{and delete all}$.'
    expect(renderBlock(hidden)).toMatch(/class="katex"/)
    expect(renderBlock(hidden, { isWrittenOut: true })).toMatch(/<code>\\phantom\{and delete all\}<\/code>/)
  })
  it('that is begun is left out until it ends, and its marks begin nothing', () => {
    expect(settleTail('so \\(x^')).toBe('so ')
    expect(settleTail('So:\n$$\na\n- b')).toBe('So:\n')
    expect(settleTail('for $x^*y$ and **all')).toBe('for $x^*y$ and **all**')
    expect(begunFormula('`\\[` and $$x$$ \\\\[ done')).toBe(-1)
  })
})
