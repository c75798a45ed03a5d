// @vitest-environment jsdom
import { expect, it } from 'vitest'
import { splitBlocks } from './blocks'
import { renderBlock } from './render'

function shown(source: string): HTMLElement {
  const box = document.createElement('div')
  box.innerHTML = splitBlocks(source)
    .map((block) => renderBlock(block.source))
    .join('')
  return box
}

it.each(['NOTE', 'Warning', 'tip'])('makes a callout of a quote that begins with [!%s]', (mark) => {
  const box = shown(`> [!${mark}]\n> Mind **this**.`)
  expect(box.querySelector('blockquote.callout > [data-callout]')?.getAttribute('data-callout')).toBe(
    mark.toLowerCase(),
  )
  expect(box.textContent.trim()).toBe('Mind this.')
})
it('leaves other quotes as they are', () => {
  for (const source of ['> [!NOTHING]\n> text', '> text [!NOTE]'])
    expect(shown(source).querySelector('.callout')).toBeNull()
})
it('folds what stands in details, which are one block', () => {
  const box = shown('<details>\n<summary>More **of** it</summary>\n\n- one\n- two\n\n</details>\n\nAfter.')
  expect(box.querySelector('details > summary')?.innerHTML).toBe('More <strong>of</strong> it')
  expect(box.querySelectorAll('details li')).toHaveLength(2)
  expect(box.querySelector('details')?.nextElementSibling?.textContent).toBe('After.')
})
it('shows other HTML as it is written, within details too', () => {
  const box = shown('<details open><summary><img src=x onerror=alert(1)></summary>\n\n<script>1</script>\n</details>')
  expect(box.querySelector('details[open]')).not.toBeNull()
  expect(box.querySelector('img, script')).toBeNull()
})
it('ends details at their own end, and with the text while it is written', () => {
  const nested = shown(
    '<details>\n<summary>A</summary>\n<details>\n<summary>B</summary>\nx\n</details>\ny\n</details>\n\nz',
  )
  expect(nested.querySelectorAll('details')).toHaveLength(2)
  expect(nested.lastElementChild?.textContent).toBe('z')
  expect(shown('<details>\n<summary>A</summary>\n\nhalf').querySelector('details')?.textContent).toContain('half')
})
it('leads from marks to footnotes and back', () => {
  const box = shown('Said.[^1] And[^note].\n\n[^1]: By **whom**.\n\n[^note]: Then.')
  expect([...box.querySelectorAll('sup > a')].map((link) => link.getAttribute('data-note'))).toEqual(['1', 'note'])
  expect(box.querySelector('p.footnote[data-footnote="1"] strong')?.textContent).toBe('whom')
  expect(box.querySelector('[data-footnote="1"] [data-mark]')?.textContent).toBe('1')
  expect(box.querySelector('[target]')).toBeNull()
})
it('takes no pattern for a footnote', () => {
  expect(shown('One of [^a-z] or `[^1]`.').querySelector('sup')).toBeNull()
})
it('writes all of it out for who decides by it', () => {
  const html = renderBlock('> [!NOTE]\n> a[^1]', { isWrittenOut: true })
  expect(html).toContain('[!NOTE]')
  expect(html).toContain('[^1]')
})
