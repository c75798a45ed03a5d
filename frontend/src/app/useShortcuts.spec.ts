// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import { defineComponent, h, ref } from 'vue'
import { i18n, setLanguage } from '@/i18n'
import ShortcutList from '@/shared/ui/ShortcutList.vue'
import { useQuestionMark } from './useShortcuts'

afterEach(() => {
  cleanup()
  setLanguage('en')
})
const Place = defineComponent(() => {
  const isOpen = ref(false)
  useQuestionMark(() => (isOpen.value = true))
  return () =>
    h('div', [
      h('input'),
      h('button'),
      h('div', { role: 'dialog' }, h('a', { href: '#' })),
      isOpen.value ? h(ShortcutList) : null,
    ])
})

it('shows the list of shortcuts by a question mark, but where one is written or a dialog stands alone', async () => {
  render(Place, { global: { plugins: [i18n] } })
  for (const role of ['textbox', 'link']) {
    screen.getByRole(role).focus()
    await userEvent.keyboard('?')
    expect(screen.queryByText('Find anything')).toBeNull()
  }
  screen.getByRole('button').focus()
  await userEvent.keyboard('?')
  expect(screen.getByText('Find anything').closest('div')?.textContent).toMatch(/K$/)
  setLanguage('zh')
  expect(await screen.findByText('查找任何内容')).toBeTruthy()
})
