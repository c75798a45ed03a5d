// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick, ref, useTemplateRef, type Ref } from 'vue'
import { i18n } from '@/i18n'
import { provideDock } from './dock'
import DockedCard from './DockedCard.vue'

/** One for each card, in the order of their mounting. */
let look: ((isSeen: boolean) => void)[]
let waits: Ref<boolean>[]

beforeEach(() => {
  look = []
  waits = [ref(true), ref(true)]
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(tell: (entries: { isIntersecting: boolean }[]) => void) {
        look.push((isSeen) => tell([{ isIntersecting: isSeen }]))
      }
      observe = () => undefined
      disconnect = () => undefined
    },
  )
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const Page = defineComponent(() => {
  provideDock(useTemplateRef<HTMLElement>('box'), useTemplateRef<HTMLElement>('place'))
  return () =>
    h('div', [
      h(
        'div',
        { ref: 'box', 'data-testid': 'box' },
        waits.map((one, at) =>
          h(DockedCard, { waits: one.value }, () => h('input', { 'aria-label': `Reason ${at + 1}` })),
        ),
      ),
      h('div', { ref: 'place', 'data-testid': 'dock' }),
    ])
})
async function see(card: number, isSeen: boolean): Promise<void> {
  look[card]?.(isSeen)
  await nextTick()
  await nextTick()
}
const docked = (): string[] =>
  [...screen.getByTestId('dock').querySelectorAll('input')].map((input) => input.getAttribute('aria-label') ?? '')

it('stands above the box while its place is out of sight, with what was written and the focus', async () => {
  render(Page, { global: { plugins: [i18n] } })
  await nextTick()
  const reason = screen.getByLabelText('Reason 1')
  await userEvent.type(reason, 'too l')
  await see(0, false)
  expect(docked()).toEqual(['Reason 1'])
  expect(document.activeElement).toBe(reason)
  await userEvent.keyboard('ate')
  await see(0, true)
  expect(docked()).toEqual([])
  expect(screen.getByTestId('box').contains(reason)).toBe(true)
  expect(screen.getByLabelText<HTMLInputElement>('Reason 1').value).toBe('too late')
  expect(document.activeElement).toBe(reason)
})

it('is one card at a time, and goes back once it is decided', async () => {
  render(Page, { global: { plugins: [i18n] } })
  await nextTick()
  await see(0, false)
  await see(1, false)
  expect(docked()).toEqual(['Reason 1'])
  expect(screen.getByRole('button', { name: 'Where it was asked' })).toBeTruthy()
  waits[0]!.value = false
  await nextTick()
  await nextTick()
  await nextTick()
  expect(docked()).toEqual(['Reason 2'])
  waits[1]!.value = false
  await nextTick()
  await nextTick()
  expect(docked()).toEqual([])
})
