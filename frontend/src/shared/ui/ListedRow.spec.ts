// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import ListedRow from './ListedRow.vue'

afterEach(cleanup)

it('keeps the focus with the question whether to delete it, and gives it back', async () => {
  const removal = { label: 'Delete otters', question: 'Delete otters?', confirm: 'Delete' }
  const props = { name: 'otters', source: 'yours', description: '', isOpen: false, removal, problem: '', busy: false }
  const { emitted } = render(ListedRow, { props, global: { plugins: [i18n] } })
  screen.getByRole('button', { name: 'Delete otters' }).focus()
  await userEvent.keyboard('{Enter}')
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Cancel' }))
  await userEvent.keyboard('{Escape}')
  expect(screen.queryByText('Delete otters?')).toBeNull()
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Delete otters' }))
  await userEvent.keyboard('{Enter}{Tab}{Enter}')
  expect(emitted('remove')).toHaveLength(1)
})
