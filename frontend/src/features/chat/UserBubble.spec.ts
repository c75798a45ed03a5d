// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import UserBubble from './UserBubble.vue'

afterEach(cleanup)
const show = (text: string) => render(UserBubble, { props: { text, attachments: [] }, global: { plugins: [i18n] } })

it('is written from the side its words ask for', () => {
  show('שלום')
  expect(screen.getByText('שלום').getAttribute('dir')).toBe('auto')
})

it.each([
  ['many lines', Array.from({ length: 200 }, (_, at) => `line ${at + 1}`).join('\n'), 'line 20…'],
  ['many characters', `a${'\u{1f600}'.repeat(3000)}`, `a${'\u{1f600}'.repeat(999)}…`],
])('is folded where it has %s, and shown whole when asked', async (_, text, end) => {
  const { container } = show(text)
  const words = () => container.querySelector('[dir=auto]')?.textContent ?? ''
  expect(words().endsWith(end)).toBe(true)
  await userEvent.click(screen.getByRole('button', { name: 'Show all' }))
  expect(words()).toBe(text)
  const less = screen.getByRole('button', { name: 'Show less' })
  expect(less.getAttribute('aria-expanded')).toBe('true')
  await userEvent.click(less)
  expect(words().length).toBeLessThan(text.length)
})
it('is whole where it is short', () => {
  show(Array.from({ length: 30 }, (_, at) => `line ${at + 1}`).join('\n'))
  expect(screen.queryByRole('button')).toBeNull()
})
