// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, openFakeStream, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { useConversation } from './conversation'
import TranscriptView from './TranscriptView.vue'

afterEach(() => {
  cleanup()
  useConversation().close(true)
  vi.unstubAllGlobals()
})

const base = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const said = { ...base, seq: 1, type: 'message.user', message_id: 'u', text: 'go', attachments: [] }
const started = { ...base, seq: 2, type: 'run.started', model: 'x', message_id: 'u', worker: 'w', attempt: 1 }
const usage = { input: 0, cached: 0, output: 0, thinking: 0, cache_write: 0, cost: null, known_cost: 0, by_model: {} }
const failed = { status: 'failed', reason: 'It failed.', code: 'internal', retryable: true, usage, files: [] }
const end = { ...base, seq: 3, type: 'run.finished', ...failed, duration_ms: 5 }

/** Presses Retry twice; answers what was posted then, and how often it was told that this failed. */
async function retried(answer: Response) {
  localStorage.clear()
  const pinia = createPinia()
  setActivePinia(pinia)
  const { calls } = startFakeServer({
    'GET /sessions/s/state': () => json({ session: { id: 's', title: '' }, sandbox: null, last_seq: 3 }),
    'GET /sessions/s/events': ({ path, signal }) =>
      path.includes('format=json')
        ? json({ items: [said, started, end], last_seq: 3, has_more: false })
        : openFakeStream(signal).response,
    'POST /sessions/s/runs/r/resume': () => answer,
    'POST /sessions/s/messages': () => json({ seq: 4 }, 202),
  })
  await useConversation().open('s')
  await vi.waitFor(() => expect(useConversation().streamState).toBe('open'))
  const { emitted } = render(TranscriptView, { props: { sessionId: 's' }, global: { plugins: [i18n, pinia] } })
  const retry = await screen.findByRole('button', { name: 'Try again' })
  await Promise.all([fireEvent.click(retry), fireEvent.click(retry)])
  await new Promise((resolve) => setTimeout(resolve, 50))
  const posted = calls.filter(({ method }) => method === 'POST').map(({ path }) => path.replace(/.*\//, ''))
  return { posted, failures: emitted()['failed']?.length ?? 0 }
}

it('asks once more where the run can not go on', async () => {
  expect(await retried(problem(409, 'nothing_to_resume'))).toEqual({ posted: ['resume', 'messages'], failures: 0 })
})

it('says nothing once more where no answer came, as the run may go on by now', async () => {
  expect(await retried(problem(503, 'unavailable'))).toEqual({ posted: ['resume'], failures: 1 })
})
