// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { i18n } from '@/i18n'
import type { Item } from './transcript'
import WaitsButton from './WaitsButton.vue'

afterEach(() => {
  cleanup()
  document.body.innerHTML = ''
})

const approval = (decided: object = {}) => ({ kind: 'approval', calls: [{ call_id: 'c' }], decided }) as Item
const of = (...inner: Item[]) => ({ kind: 'tool', inner }) as unknown as Item
const question = { kind: 'question', by: null } as Item

function at(element: HTMLElement, top: number, bottom: number): void {
  element.getBoundingClientRect = () => ({ top, bottom, height: bottom - top }) as DOMRect
}

async function show(items: Item[], ...places: [number, number][]) {
  const box = document.body.appendChild(document.createElement('div'))
  at(box, 100, 500)
  const cards = places.map(([top, bottom]) => {
    const card = box.appendChild(document.createElement('section'))
    card.dataset['waits'] = 'true'
    card.innerHTML = '<button>Approve</button>'
    at(card, top, bottom)
    return card
  })
  render(WaitsButton, { props: { items, box, content: box }, global: { plugins: [i18n] } })
  await nextTick()
  await nextTick()
  return { box, cards }
}

it('leads to what an agent below asks far above, and gives it the focus', async () => {
  const { box, cards } = await show([of(approval()), question], [-400, -200], [-150, 90])
  const button = screen.getByRole('button', { name: '2 decisions wait for you' })
  Object.defineProperty(box, 'scrollTop', { value: 900 })
  const scrolled = vi.fn()
  box.scrollTo = scrolled
  await userEvent.click(button)
  expect(scrolled).toHaveBeenCalledWith({ top: 900 - 500 - 100 })
  expect(document.activeElement).toBe(cards[0])
  at(cards[0] as HTMLElement, 200, 400)
  box.dispatchEvent(new Event('scroll'))
  await nextTick()
  expect(screen.queryByRole('button', { name: /wait/ })).toBeNull()
})

it('is not there where one is in sight, or none waits', async () => {
  await show([approval(), of(approval())], [-400, -200], [300, 700])
  expect(screen.queryByRole('button', { name: /wait/ })).toBeNull()
  cleanup()
  await show([of(approval({ c: { decision: 'deny' } })), { ...question, by: 'stop' } as Item])
  expect(screen.queryByRole('button', { name: /wait/ })).toBeNull()
})
