// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import TopBar from './TopBar.vue'

afterEach(cleanup)

const given = { title: 'A title', tone: '', isOpening: false, isNarrow: false, isPanelOpen: false, hasPanel: true }
/** What the bar reads out: hidden words are seen only. */
const heard = (): string =>
  [...within(screen.getByRole('banner')).getByRole('status').querySelectorAll('span:not([aria-hidden])')]
    .map((one) => one.textContent)
    .join('')

it('shows that it reconnects, and leaves it to the line at the message box to say so', async () => {
  const { rerender } = render(TopBar, {
    props: { ...given, state: 'Working', isToldBelow: false },
    global: { plugins: [i18n], stubs: { PlaceChip: true, ShareButton: true } },
  })
  expect(heard()).toBe('Working')
  await rerender({ state: 'Reconnecting', isToldBelow: true })
  expect(screen.getByText('Reconnecting')).toBeTruthy()
  expect(heard()).toBe('')
})
