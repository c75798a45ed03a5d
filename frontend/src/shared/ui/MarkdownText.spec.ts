// @vitest-environment jsdom
import { cleanup, render, screen, within } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { i18n } from '@/i18n'
import { offerOpenFile } from '@/shared/lib/openFile'
import MarkdownText from './MarkdownText.vue'

afterEach(cleanup)
const show = (text: string, more = {}) =>
  render(MarkdownText, { props: { text, ...more }, global: { plugins: [i18n] } })
const step = '1. First\n\n   ```bash\n   echo "<b>"\n   ```\n2. Then\n'

describe('code within a list or a quote', () => {
  it('can be copied, as code by itself can', async () => {
    show(step)
    const item = within((await screen.findAllByRole('listitem'))[0] as HTMLElement)
    expect(item.getByRole('button', { name: 'Copy' })).toBeTruthy()
    expect(item.getByText('bash')).toBeTruthy()
    expect(item.getByText('echo "<b>"').closest('pre')?.getAttribute('aria-label')).toBe('Code, bash')
  })
  it('is there once, also while more is written', async () => {
    const { rerender } = show(step, { finished: false })
    for (const more of ['   - a\n', '   - a\n\n> ```js\n> let x\n> ```\n']) await rerender({ text: step + more })
    await vi.waitFor(() => expect(screen.getAllByRole('button', { name: 'Copy' }).length).toBe(2))
    expect(screen.getAllByText(/echo/).length).toBe(1)
    await rerender({ text: 'Nothing of it' })
    await vi.waitFor(() => expect(screen.queryByRole('button')).toBeNull())
  })
})

describe('an answer that was cut', () => {
  it.each([
    ['Tea is *very', 'Tea is very', 'em'],
    ['Tea is **very go', 'Tea is very go', 'strong'],
    ['Tea\n\nRun `ls -l', 'Tea Run ls -l', 'code'],
    ['See [the page](https://exam', 'See the page', null],
    ['- one\n- **two', 'one two', 'strong'],
  ])('%j shows no mark of what it did not come to end', (text, said, tag) => {
    const { container, unmount } = show(text, { finished: true, cut: true })
    expect(container.textContent.trim().split(/\s+/).join(' ')).toBe(said)
    if (tag !== null) expect(container.querySelector(tag)).not.toBeNull()
    unmount()
    const whole = show(text, { finished: true })
    expect(whole.container.textContent).toMatch(/[*`[]/)
  })
  it('shows what came before its end as it is', () => {
    const { container } = show('2 * 3\n\nand **more', { finished: true, cut: true })
    expect(container.querySelector('p')?.textContent).toBe('2 * 3')
  })
})

describe('what is no text of the answer', () => {
  it('is a table that the keyboard reaches, by its head', () => {
    show('| Tea | Cups |\n| --- | ---: |\n| green | 2 |\n')
    const region = screen.getByRole('region', { name: 'Table: Tea, Cups' })
    expect(region.tabIndex).toBe(0)
    expect(within(region).getByRole('table')).toBeTruthy()
  })
  it('is a box to check, by its own words', () => {
    show('- [x] Boil water\n- [ ] Brew\n  - [ ] Wait\n')
    const names = screen.getAllByRole('checkbox').map((box) => box.getAttribute('aria-label'))
    expect(names).toEqual(['Boil water', 'Brew', 'Wait'])
  })
  it('is the name of a callout', () => {
    show('> [!TIP]\n> Short.')
    expect(screen.getByText('Tip')).toBeTruthy()
  })
})

it('names a file as text where none can be opened', async () => {
  const text = 'See [notes](notes/tour.md) and [the site](https://example.com).'
  const { container, rerender } = render(MarkdownText, { props: { text }, global: { plugins: [i18n] } })
  const links = () => [...container.querySelectorAll('a')].map((link) => link.textContent)
  await vi.waitFor(() => expect(container.textContent).toContain('See notes and the site.'))
  expect(links()).toEqual(['the site'])
  await rerender({ text: `${text} [More](more.md)` })
  await vi.waitFor(() => expect(container.textContent).toContain('More'))
  expect(links()).toEqual(['the site'])
  cleanup()
  const Page = defineComponent(() => {
    offerOpenFile(() => undefined)
    return () => h(MarkdownText, { text })
  })
  const page = render(Page, { global: { plugins: [i18n] } })
  await vi.waitFor(() => expect(page.container.querySelectorAll('a')).toHaveLength(2))
})
