// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it } from 'vitest'
import { defineComponent, h, ref } from 'vue'
import { i18n, setLanguage } from '@/i18n'
import ShortcutList from '@/shared/ui/ShortcutList.vue'
import { useQuestionMark, useRegions } from './useShortcuts'

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

it('says what Enter does, as the person has chosen it', async () => {
  const { rerender } = render(ShortcutList, { props: { enter: 'queues' }, global: { plugins: [i18n] } })
  const keysOf = (said: string): string => screen.getByText(said).nextElementSibling?.textContent ?? ''
  expect(keysOf('Send the message; while the agent works, queue it')).toBe('Enter')
  expect(keysOf('Interrupt the agent and send')).toMatch(/^(Alt|⌥)Enter$/)
  await rerender({ enter: 'interrupts' })
  expect(keysOf('Send the message; while the agent works, interrupt it')).toBe('Enter')
})

it('leads from one part of the page to the next and back by F6, but out of no dialog', async () => {
  const Parts = defineComponent(() => {
    useRegions()
    const tab = (name: string, is: boolean) => h('button', { role: 'tab', 'aria-selected': is }, name)
    return () =>
      h('div', [
        h('nav', { 'data-region': '' }, h('a', { href: '#' }, 'List')),
        h('div', { 'data-region': '', tabindex: 0, role: 'log' }, h('button', 'Copy')),
        h('form', { 'data-region': '' }, [h('button', 'Attach'), h('textarea')]),
        h('aside', { 'data-region': '' }, [tab('Files', false), tab('Screen', true), h('textarea', { tabindex: -1 })]),
        h('div', { 'data-region': '' }),
        h('div', { role: 'dialog' }, h('input', { type: 'checkbox' })),
      ])
  })
  render(Parts)
  const places = [
    screen.getByRole('link'),
    screen.getByRole('log'),
    screen.getAllByRole('textbox')[0],
    screen.getByRole('tab', { name: 'Screen' }),
  ]
  for (const place of [...places, places[0]]) {
    await userEvent.keyboard('{F6}')
    expect(document.activeElement).toBe(place)
  }
  await userEvent.keyboard('{Shift>}{F6}{/Shift}')
  expect(document.activeElement).toBe(places[3])
  screen.getByRole('checkbox').focus()
  await userEvent.keyboard('{F6}')
  expect(document.activeElement).toBe(screen.getByRole('checkbox'))
})
