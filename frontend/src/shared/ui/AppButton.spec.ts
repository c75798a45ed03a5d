// @vitest-environment jsdom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h, ref } from 'vue'
import AppButton from './AppButton.vue'

afterEach(cleanup)

it('keeps the focus while it is busy, and does nothing a second time', async () => {
  const isBusy = ref(false)
  const pressed = vi.fn(() => (isBusy.value = true))
  const submitted = vi.fn((event: Event) => event.preventDefault())
  const form = defineComponent(
    () => () =>
      h('form', { onSubmit: submitted }, [
        h('input'),
        h(AppButton, { type: 'submit', busy: isBusy.value, onClick: pressed }, () => 'Save'),
      ]),
  )
  render(form)
  const button = screen.getByRole('button', { name: 'Save' })
  button.focus()
  await userEvent.keyboard('{Enter}{Enter}')
  expect(document.activeElement).toBe(button)
  expect(button.getAttribute('aria-disabled')).toBe('true')
  await userEvent.type(screen.getByRole('textbox'), '{Enter}')
  expect([pressed.mock.calls.length, submitted.mock.calls.length]).toEqual([1, 1])
})
