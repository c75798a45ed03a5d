// @vitest-environment jsdom
import { cleanup, render, screen, within } from '@testing-library/vue'
import { afterEach, describe, expect, it } from 'vitest'
import { i18n } from '@/i18n'
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
    expect((await screen.findAllByRole('button', { name: 'Copy' })).length).toBe(2)
    expect(screen.getAllByText(/echo/).length).toBe(1)
    await rerender({ text: 'Nothing of it' })
    expect(screen.queryByRole('button')).toBeNull()
  })
})
