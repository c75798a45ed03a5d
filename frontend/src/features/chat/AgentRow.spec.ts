// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { nextTick } from 'vue'
import { i18n } from '@/i18n'
import { laterTexts } from '@/shared/lib/laterTexts'
import AgentRow from './AgentRow.vue'
import { useConversation } from './conversation'
import { byOwner } from './tasksByOwner'
import type { ToolItem } from './transcript'

beforeEach(async () => {
  setActivePinia(createPinia())
  await laterTexts()
})
afterEach(() => {
  cleanup()
  i18n.global.locale.value = 'en'
})

const agent = (more: object): ToolItem =>
  ({
    kind: 'tool',
    key: 'tool:1',
    callId: 'c',
    name: 'task',
    agentId: 'a',
    agentKind: 'explore',
    teammate: null,
    arguments: { description: 'Count the files' },
    phrase: 'p',
    outcome: 'running',
    startedAt: null,
    durationMs: null,
    output: '',
    preview: '',
    display: null,
    body: null,
    inner: [],
    ...more,
  }) as unknown as ToolItem
const show = (item: ToolItem) => render(AgentRow, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
const row = () => screen.getAllByRole('button')[0] as HTMLElement

it('names a built-in kind in the language of the page, and another by its own name', async () => {
  i18n.global.locale.value = 'zh'
  const { rerender } = show(agent({ agentKind: 'research' }))
  expect(row().textContent).toContain('研究')
  await rerender({ item: agent({ agentKind: 'archivist' }), sessionId: 's' })
  expect(row().textContent).toContain('archivist')
})

it('is one row that says who it is, its state in a word, and the last line it writes as it comes', async () => {
  show(agent({}))
  expect(row().textContent).toMatch(/Count the files.*explore.*Beginning….*At work/)
  const written = {
    key: 'm',
    agentId: 'a',
    messageId: 'm',
    kind: 'assistant',
    text: 'One.\nThere are **se',
    points: 18,
  }
  useConversation().agentTexts = [written as never]
  await nextTick()
  expect(row().textContent).toContain('There are **se')
  useConversation().agentTexts = [{ ...written, text: 'One.\nThere are **seven**.' } as never]
  await nextTick()
  expect(row().textContent).toContain('There are seven.')
})

it('shows all of its work in place by the keyboard, also what is being written', async () => {
  const inner = [{ kind: 'assistant', key: 'x', messageId: 'x', text: 'I look.', partial: false, complete: true }]
  show(agent({ inner }))
  const written = { key: 'm', agentId: 'a', messageId: 'm', kind: 'assistant', text: 'It is new', points: 9 }
  useConversation().agentTexts = [written as never, { ...written, key: 'n', agentId: 'b', text: 'Of another' } as never]
  expect(row().getAttribute('aria-expanded')).toBe('false')
  row().focus()
  await userEvent.keyboard('{Enter}')
  expect(row().getAttribute('aria-expanded')).toBe('true')
  const work = screen.getByRole('list', { name: 'What the sub-agent does' })
  expect(work.textContent).toMatch(/I look\.\s*It is new/)
  expect(screen.queryByText('Of another')).toBeNull()
})

it.each([
  ['succeeded', null, 'Done', '已完成'],
  ['failed', null, 'Failed', '失败'],
  ['cut', null, 'Stopped', '已停止'],
  ['succeeded', { name: 'amy', role: 'digs', status: 'idle', reason: null }, 'Resting', '休息中'],
])('tells in both languages what became of it: %s', async (outcome, teammate, english, chinese) => {
  show(agent({ outcome, teammate }))
  expect(row().textContent).toContain(english)
  i18n.global.locale.value = 'zh'
  await nextTick()
  expect(row().textContent).toContain(chinese)
})

it('has the tasks by who has them, members without one as well, and nobody last', () => {
  const task = (id: string, owner: string) => ({ id, owner }) as never
  const found = byOwner([task('1', ''), task('2', 'bob'), task('3', 'cy')], ['amy', 'bob'])
  expect(found.map(({ owner, tasks }) => [owner, tasks.map(({ id }) => id)])).toEqual([
    ['amy', []],
    ['bob', ['2']],
    ['cy', ['3']],
    ['', ['1']],
  ])
})
