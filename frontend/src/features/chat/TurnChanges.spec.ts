// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { i18n } from '@/i18n'
import { offerOpenFile } from '@/shared/lib/openFile'
import TurnChanges from './TurnChanges.vue'

afterEach(() => {
  cleanup()
  i18n.global.locale.value = 'en'
})
const changes = [
  { path: 'a.py', added: 2, removed: 1, isKnown: true, diffs: ['@@ -1 +1,2 @@\n-x\n+y\n+z'] },
  { path: 'c.png', added: 0, removed: 0, isKnown: false, diffs: [] },
]
const show = () => render(TurnChanges, { props: { changes }, global: { plugins: [i18n] } })

it('says how much changed, and shows what when it is opened', async () => {
  show()
  const line = screen.getByRole('button', { name: '2 files changed +2 −1' })
  await userEvent.click(line)
  expect(screen.getByText('+y').className).toContain('text-good')
  expect(screen.getByText('-x').className).toContain('text-bad')
  expect(screen.getByText('changed by a command')).toBeTruthy()
})
it('brings what it opens into view, and moves nothing as it closes', async () => {
  const shown = vi.spyOn(HTMLElement.prototype, 'scrollIntoView').mockReturnValue(undefined)
  show()
  const line = screen.getByRole('button', { name: '2 files changed +2 −1' })
  await userEvent.click(line)
  await userEvent.click(line)
  expect(shown.mock.contexts).toEqual([line.parentElement])
})
it("names a file that is deleted or too long, of which the first can't be opened", async () => {
  const openFile = vi.fn()
  const gone = { path: 'old.md', added: 0, removed: 0, isKnown: false, isRemoved: true, diffs: [] }
  const long = { path: 'long.csv', added: 9, removed: 0, isKnown: true, isCut: true, diffs: [] }
  const Page = defineComponent(() => {
    offerOpenFile(openFile)
    return () => h(TurnChanges, { changes: [gone, long], isSinceVisit: true })
  })
  render(Page, { global: { plugins: [i18n] } })
  await userEvent.click(screen.getByRole('button', { name: 'Since your last visit: 2 files changed +9 −0' }))
  expect(screen.getByText('deleted').closest('li')?.textContent).toContain('old.md')
  expect(screen.getByText('too long to show here').closest('li')?.textContent).toContain('long.csv')
  await userEvent.click(screen.getByRole('button', { name: /Open/ }))
  expect(openFile.mock.calls).toEqual([['long.csv']])
})
it('does not say that a file lost nothing when nobody knows', async () => {
  const over = { path: 'a.txt', added: 1, removed: 0, isKnown: true, isRewritten: true, diffs: ['+new'] }
  render(TurnChanges, { props: { changes: [over] }, global: { plugins: [i18n] } })
  await userEvent.click(screen.getByRole('button', { name: '1 file changed +1' }))
  expect(screen.getByText('written as a whole').closest('li')?.textContent).not.toContain('−0')
})
it('is written in Chinese too', () => {
  i18n.global.locale.value = 'zh'
  show()
  expect(screen.getByRole('button', { name: '2 个文件有改动 +2 −1' })).toBeTruthy()
})
