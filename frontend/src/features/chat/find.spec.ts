// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { face } from '@/shared/lib/face'
import { laterTexts } from '@/shared/lib/laterTexts'
import { json, openFakeStream, startFakeServer } from '@/shared/testing/fakeServer'
import { useConversation } from './conversation'
import TranscriptView from './TranscriptView.vue'

beforeEach(async () => {
  localStorage.clear()
  Element.prototype.scrollIntoView = () => undefined
  await laterTexts()
})
afterEach(() => {
  cleanup()
  useConversation().close(true)
  window.location.hash = ''
  vi.unstubAllGlobals()
})

const base = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const of = (seq: number, type: string, fields: object) => ({ ...base, ...{ seq, type }, ...fields })
const call = (seq: number, id: string, description: string) =>
  of(seq, 'tool.called', {
    ...{ call_id: id, name: 'task', arguments: { description, prompt: description }, phrase: description },
    ...{ parent_call_id: null, needs_computer: false, read_only: true, asks: false, turn: 0, seen_seq: 0 },
  })
const begins = (seq: number, id: string) =>
  of(seq, 'subagent.started', { subagent_id: `agent_${id}`, kind: 'general', task: id, parent_call_id: id })
const says = (seq: number, id: string, text: string) =>
  of(seq, 'message.completed', {
    ...{ message_id: `m${seq}`, text, turn: 0, partial: false, seen_seq: 3, agent_id: `agent_${id}` },
  })
const items = [
  of(1, 'message.user', { message_id: 'u1', text: 'Look at both.', attachments: [], client_message_id: null }),
  of(2, 'run.started', { model: 'x', message_id: 'u1', worker: 'w', attempt: 1 }),
  call(3, 'one', 'First'),
  begins(4, 'one'),
  call(5, 'two', 'Second'),
  begins(6, 'two'),
  says(7, 'one', 'Nothing here.'),
  // More than what stands open by itself in either face.
  ...Array.from({ length: 8 }, (_, at) => says(8 + at, 'two', at === 5 ? 'There is the quartz.' : `Step ${at}.`)),
  ...['one', 'two'].map((id, at) =>
    of(16 + at, 'tool.finished', {
      ...{ call_id: id, success: true, preview: 'done', cancelled: false, body: null, duration_ms: 7, display: null },
    }),
  ),
]

async function show(hasMore: boolean) {
  const pinia = createPinia()
  setActivePinia(pinia)
  startFakeServer({
    'GET /sessions/s/state': () => json({ session: { id: 's', title: '' }, sandbox: null, last_seq: 17 }),
    'GET /sessions/s/events': ({ path, signal }) => {
      if (!path.includes('format=json')) return openFakeStream(signal).response
      return path.includes('before=1&')
        ? json({ items: [], last_seq: 17, has_more: false })
        : json({ items, last_seq: 17, has_more: hasMore })
    },
    'GET /sessions/s/branches': () => json({ items: [] }),
  })
  await useConversation().open('s')
  render(TranscriptView, { props: { sessionId: 's' }, global: { plugins: [i18n, pinia] } })
}

const isOpen = (name: string): string | null =>
  screen.getByRole('button', { name: new RegExp(name) }).getAttribute('aria-expanded')

it.each(['user', 'developer'] as const)('opens the work of an agent whose words are found: face %s', async (shown) => {
  face.value = shown
  await show(true)
  expect(screen.queryByText('There is the quartz.')).toBeNull()
  await userEvent.keyboard('{Control>}f{/Control}')
  await userEvent.type(await screen.findByRole('searchbox'), 'quartz')
  expect(await screen.findByText('There is the quartz.')).toBeTruthy()
  if (shown === 'user') expect(isOpen('First')).toBe('false')
})
it('opens the work of an agent that a link to one of its messages leads to', async () => {
  face.value = 'user'
  window.location.hash = '#m-m13'
  await show(false)
  expect(await screen.findByText('There is the quartz.')).toBeTruthy()
  expect(isOpen('First')).toBe('false')
})
