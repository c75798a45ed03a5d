// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defineComponent, nextTick } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { ChangedFile, Session } from '@/api/types'
import { useSessions } from '@/features/sessions'
import { i18n } from '@/i18n'
import { json, openFakeStream, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { useConversation } from './conversation'
import TranscriptView from './TranscriptView.vue'
import { useReadMarker } from './useReadMarker'

const base = { at: '2026-01-01T00:00:00Z', session_id: 's' }
const usage = { input: 0, cached: 0, output: 0, thinking: 0, cache_write: 0, cost: null, known_cost: 0, by_model: {} }
const finished = { type: 'run.finished', status: 'completed', reason: null, retryable: false, usage, files: [] }
/** A turn whose events have the numbers from `seq` on, and whose answer says `text`. */
const turn = (seq: number, text: string) => {
  const run = { ...base, run_id: `r${seq}` }
  const said = { turn: 0, partial: false, seen_seq: seq, continuations: [] }
  return [
    {
      ...run,
      seq,
      type: 'message.user',
      message_id: `u${seq}`,
      text: 'do it',
      attachments: [],
      client_message_id: null,
    },
    { ...run, seq: seq + 1, type: 'run.started', model: 'x', message_id: `u${seq}`, worker: 'w', attempt: 1 },
    { ...run, seq: seq + 2, type: 'message.completed', message_id: `a${seq}`, text, ...said },
    { ...run, seq: seq + 3, ...finished, duration_ms: 5 },
  ]
}
const EVENTS = [...turn(1, 'seen'), ...turn(5, 'first new'), ...turn(9, 'second new')]
const changed = (path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
  ...{
    path,
    added: 2,
    removed: 1,
    is_known: true,
    is_removed: false,
    is_cut: false,
    is_rewritten: false,
    diffs: ['@@ -1 +1 @@\n-x\n+y'],
  },
  ...more,
})
const session = (read_seq: number, unread: number): Session => ({
  ...{
    id: 's',
    title: '',
    status: 'idle',
    model: null,
    preset: null,
    options: {},
    pinned: false,
    archived: false,
    failed: false,
  },
  ...{ created_at: '', updated_at: '', active_at: '', last_seq: 12, folder_id: null, target_id: null, sandbox: null },
  ...{ read_seq, unread },
})
let files: ChangedFile[]
let calls: ReturnType<typeof startFakeServer>['calls']
const asked = () => calls.map(({ path }) => path).filter((path) => path.includes('/changes'))

beforeEach(() => {
  localStorage.clear()
  files = [changed('a.py'), changed('old.md', { added: 0, removed: 0, is_known: false, is_removed: true, diffs: [] })]
})
afterEach(() => {
  cleanup()
  useConversation().close(true)
  i18n.global.locale.value = 'en'
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})
async function show(known: Session, status = 200): Promise<void> {
  const pinia = createPinia()
  setActivePinia(pinia)
  ;({ calls } = startFakeServer({
    'GET /sessions/s/state': () => json({ session: known, sandbox: null, last_seq: 12 }),
    'GET /sessions/s/events': ({ path, signal }) =>
      path.includes('format=json')
        ? json({ items: EVENTS, last_seq: 12, has_more: false })
        : openFakeStream(signal).response,
    'GET /sessions/s/changes': () => (status === 200 ? json({ files }) : problem(status, 'unavailable')),
  }))
  await useConversation().open('s')
  useSessions().keep(known)
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: TranscriptView }] })
  render(TranscriptView, { props: { sessionId: 's' }, global: { plugins: [i18n, pinia, router] } })
  await vi.waitFor(() => screen.getByText('second new'))
  await nextTick()
}
function see(state: 'visible' | 'hidden'): void {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(state)
  document.dispatchEvent(new Event('visibilitychange'))
}
const line = (): HTMLElement | null => screen.queryByRole('button', { name: /^Since your last visit/ })

it('stands above the first answer not seen yet, opens the differences, and stays while one reads', async () => {
  await show(session(4, 2))
  await screen.findByRole('button', { name: 'Since your last visit: 2 files changed +2 −1' })
  expect(asked()).toEqual(['/sessions/s/changes?after=4'])
  const row = line()!.closest('[data-kind]')
  expect([row?.getAttribute('data-kind'), row?.textContent]).toEqual([
    'assistant',
    expect.stringContaining('first new'),
  ])
  useSessions().keep({ ...session(12, 0), updated_at: 'later' })
  await nextTick()
  await userEvent.click(line()!)
  expect(screen.getByText('+y')).toBeTruthy()
  expect(screen.getByText('deleted')).toBeTruthy()
  i18n.global.locale.value = 'zh'
  await nextTick()
  expect(screen.getByRole('button', { name: '自上次查看以来：2 个文件有改动 +2 −1' })).toBeTruthy()
})
it('is told anew to who comes back to the page', async () => {
  await show({ ...session(8, 0), last_seq: 8 })
  expect([line(), asked()]).toEqual([null, []])
  see('hidden')
  useSessions().keep({ ...session(8, 1), updated_at: 'later' })
  expect(asked()).toEqual([])
  see('visible')
  await vi.waitFor(() => expect(line()).not.toBeNull())
  expect(asked()).toEqual(['/sessions/s/changes?after=8'])
  expect(line()!.closest('[data-kind]')?.textContent).toContain('second new')
})
it('says nothing in a conversation that was never looked at', async () => {
  await show(session(0, 3))
  expect([line(), asked()]).toEqual([null, []])
})
it('says nothing where nothing changed, or the server does not say', async () => {
  files = []
  await show(session(4, 2))
  await vi.waitFor(() => expect(asked()).toHaveLength(1))
  await nextTick()
  expect(line()).toBeNull()
  cleanup()
  await show(session(4, 2), 500)
  await vi.waitFor(() => expect(asked()).not.toEqual([]))
  expect(line()).toBeNull()
})
it('counts from the end of what was seen, also of a run that counts as no unread answer', async () => {
  await show({ ...session(8, 0), last_seq: 8 })
  const Marker = defineComponent(() => (useReadMarker(() => 's'), () => null))
  render(Marker)
  const read = () => calls.filter(({ path }) => path === '/sessions/s/read').map(({ body }) => body)
  await vi.waitFor(() => expect(read()).toEqual([{ seq: 12 }]))
  cleanup()
  useSessions().keep({ ...session(12, 0), updated_at: 'later' })
  vi.useFakeTimers()
  render(Marker)
  await vi.advanceTimersByTimeAsync(5_000)
  vi.useRealTimers()
  expect(read()).toHaveLength(1)
})
