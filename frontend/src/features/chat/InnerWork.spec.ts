// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import InnerWork from './InnerWork.vue'
import type { Item, ToolItem } from './transcript'

beforeEach(() => setActivePinia(createPinia()))
afterEach(cleanup)

const words = (count: number): Item[] =>
  Array.from({ length: count }, (_, at) => ({ kind: 'assistant', key: `a${at}`, text: `word ${at}` }) as Item)
const call = (outcome: string, inner: Item[]) =>
  ({ kind: 'tool', outcome, teammate: null, arguments: {}, phrase: 'p', inner }) as unknown as ToolItem
const show = (item: ToolItem) => render(InnerWork, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
const fold = () => screen.getByRole('button', { name: /^What the sub-agent does/ })

it('is folded away and back, and stays as it is when the work ends', async () => {
  const { rerender } = show(call('running', words(9)))
  expect(screen.getByText('word 8')).toBeTruthy()
  await rerender({ item: call('succeeded', words(10)) })
  expect(screen.getByText('word 9')).toBeTruthy()
  await userEvent.click(fold())
  expect(screen.queryByText('word 9')).toBeNull()
  expect(fold().getAttribute('aria-expanded')).toBe('false')
  await userEvent.click(fold())
  expect(screen.getByText('word 9')).toBeTruthy()
})

it('begins folded where it is long and long over, but for a short one', () => {
  show(call('succeeded', words(30)))
  expect(screen.queryByText('word 1')).toBeNull()
  expect(fold().textContent).toContain('30')
  cleanup()
  show(call('succeeded', words(2)))
  expect(screen.getByText('word 1')).toBeTruthy()
})

it('says of a teammate that asks who it is, in both languages', () => {
  const calls = [{ call_id: 'c', name: 'n', arguments: {} }]
  const asks = { kind: 'approval', key: 'w', calls, decided: {}, expiresAt: null } as unknown as Item
  const teammate = { name: 'amy', role: 'digs', status: 'working', reason: null }
  show({ ...call('succeeded', [asks]), teammate } as ToolItem)
  expect(screen.getByRole('group', { name: 'The teammate amy asks before it does this' })).toBeTruthy()
  cleanup()
  i18n.global.locale.value = 'zh'
  show({ ...call('succeeded', [asks]), teammate } as ToolItem)
  expect(screen.getByRole('group', { name: '队友 amy 想做下面的事，请你决定' })).toBeTruthy()
  i18n.global.locale.value = 'en'
})

it('hides nothing that waits for a decision', () => {
  const asks = { kind: 'approval', key: 'w', calls: [{ call_id: 'c', name: 'n', arguments: {} }], decided: {} }
  show(call('failed', [...words(20), { ...asks, expiresAt: null } as unknown as Item]))
  expect(screen.getByRole('button', { name: 'Approve' })).toBeTruthy()
})
