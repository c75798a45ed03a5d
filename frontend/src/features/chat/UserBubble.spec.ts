// @vitest-environment happy-dom
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
