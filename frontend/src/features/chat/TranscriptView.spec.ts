// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, openFakeStream, startFakeServer } from '@/shared/testing/fakeServer'
import { useConversation } from './conversation'
import TranscriptView from './TranscriptView.vue'

beforeEach(() => localStorage.clear())
afterEach(() => {
  cleanup()
  useConversation().close(true)
  vi.unstubAllGlobals()
})

const base = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const user = (seq: number, text: string) => ({
  ...base,
  ...{ seq, type: 'message.user', message_id: `u${seq}`, text, attachments: [], client_message_id: null },
})
const started = { ...base, seq: 2, type: 'run.started', model: 'x', message_id: 'u1', worker: 'w', attempt: 1 }
const half = { turn: 0, partial: true, seen_seq: 1, continuations: [] }

async function show(items: readonly object[]) {
  const pinia = createPinia()
  setActivePinia(pinia)
  startFakeServer({
    'GET /sessions/s/state': () => json({ session: { id: 's', title: '' }, sandbox: null, last_seq: items.length }),
    'GET /sessions/s/events': ({ path, signal }) =>
      path.includes('format=json')
        ? json({ items, last_seq: items.length, has_more: false })
        : openFakeStream(signal).response,
    'POST /sessions/s/messages': () => new Promise(() => undefined),
  })
  await useConversation().open('s')
  return render(TranscriptView, { props: { sessionId: 's' }, global: { plugins: [i18n, pinia] } })
}
const usage = { input: 0, cached: 0, output: 0, thinking: 0, cache_write: 0, cost: null, known_cost: 0, by_model: {} }

describe('TranscriptView', () => {
  it('has a first message on its way where it will stand, and the next one apart from it', async () => {
    await show([])
    void useConversation().send('first')
    void useConversation().send('second')
    expect((await screen.findByText('first')).closest('.mt-10')).toBeNull()
    expect(screen.getByText('second').closest('.mt-10')).not.toBeNull()
  })
  it('marks an answer that was cut by what was said', async () => {
    const answer = { ...base, seq: 4, type: 'message.completed', message_id: 'a', text: 'half *an', ...half }
    await show([user(1, 'question'), started, user(3, 'rather this'), answer])
    expect(screen.getByText('an').tagName).toBe('EM')
    const mark = screen.getByText('Interrupted here')
    expect(mark.closest('[data-kind]')?.getAttribute('data-kind')).toBe('assistant')
  })
  it('says of a message the stop came before that it is not answered, until the next one is sent', async () => {
    const answer = { ...base, seq: 4, type: 'message.completed', message_id: 'a', text: 'half an', ...half }
    const stopped = { status: 'stopped', reason: null, retryable: false, usage, files: [], duration_ms: 5 }
    const end = { ...base, seq: 5, type: 'run.finished', ...stopped }
    const ended = [user(1, 'question'), started, user(3, 'after that'), answer, end]
    const { unmount } = await show(ended)
    const mark = screen.getByText(/^Not answered/)
    expect(mark.closest('[data-kind]')?.textContent).toContain('after that')
    unmount()
    useConversation().close(true)
    await show([...ended, user(6, 'go on'), { ...started, seq: 7, run_id: 'next', message_id: 'u6' }])
    expect(screen.queryByText(/^Not answered/)).toBeNull()
  })
  it('says of what was said to a run that waits that it is read after the decision, until that is there', async () => {
    const call = { call_id: 'c', name: 'write_file', arguments: {} }
    const called = { ...call, type: 'tool.called', phrase: 'Writes', turn: 1, seen_seq: 1, read_only: false }
    const asked = { type: 'approval.requested', approval_id: 'w', calls: [call], expires_at: base.at }
    const waiting = [
      user(1, 'question'),
      started,
      { ...base, ...called, seq: 3 },
      user(4, 'before'),
      { ...base, ...asked, seq: 5 },
      user(6, 'after'),
    ]
    const { unmount } = await show(waiting)
    const marks = screen.getAllByText('The agent reads this once you have decided or answered')
    expect(marks.map((mark) => /before|after/.exec(mark.closest('[data-kind]')?.textContent ?? '')?.[0])).toEqual([
      'before',
      'after',
    ])
    unmount()
    useConversation().close(true)
    const told = { type: 'approval.resolved', approval_id: 'w', call_ids: ['c'], decision: 'approve', by: 'user' }
    const queued = { type: 'run.queued', cause: 'answer', message_id: null }
    await show([...waiting, { ...base, ...told, seq: 7 }, { ...base, ...queued, seq: 8 }])
    expect(screen.queryByText(/once you have decided/)).toBeNull()
  })
  it('offers to try again where a key was refused, which the person can change', async () => {
    const failed = { status: 'failed', reason: 'Refused.', retryable: false, usage, files: [], duration_ms: 5 }
    const ends = async (code: string) => {
      const error = { ...base, seq: 3, type: 'error', text: 'Refused.', code, retryable: false }
      await show([user(1, 'question'), started, error, { ...base, seq: 4, type: 'run.finished', ...failed }])
    }
    await ends('model_auth')
    expect(screen.getByRole('button', { name: 'Try again' })).toBeTruthy()
    cleanup()
    useConversation().close(true)
    await ends('model_refused')
    expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull()
  })
  it('marks no answer twice whose run was stopped', async () => {
    const answer = { ...base, seq: 3, type: 'message.completed', message_id: 'a', text: 'half an', ...half }
    const end = { status: 'stopped', reason: null, retryable: false, usage, files: [], duration_ms: 5 }
    await show([
      user(1, 'question'),
      started,
      answer,
      { ...base, seq: 4, type: 'run.finished', ...end },
      user(5, 'next'),
    ])
    expect(screen.queryByText('Interrupted here')).toBeNull()
    expect(screen.getByText('Stopped')).toBeTruthy()
  })
})
