// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import type { Draft } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import ComposerBox from './ComposerBox.vue'
import { useConversation } from './conversation'
import DraftLine from './DraftLine.vue'
import { recallDraft } from './drafts'
import { PAUSE_MS } from './useDraftSync'

const session = 'unanswered'
const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(50)

const Page = defineComponent(() => {
  const ensureSession = (): Promise<string> => Promise.resolve(session)
  const its = { writer: null, sessionId: session }
  return () => [h(DraftLine, its), h(ComposerBox, { ...its, isRunning: false, isStopping: false, ensureSession })]
})
async function open(): Promise<HTMLTextAreaElement> {
  render(Page, { global: { plugins: [i18n] } })
  await settled()
  return screen.getByRole('textbox', { name: 'Message' })
}
afterEach(async () => {
  cleanup()
  useConversation().close(true)
  await settled()
  vi.useRealTimers()
})

it('is not given back after it was sent, where the answer to its saving was lost', async () => {
  localStorage.clear()
  setActivePinia(createPinia())
  vi.useFakeTimers({ shouldAdvanceTime: true })
  let stored: Draft = { text: '', files: [], version: 0, updated_at: null }
  let isLost = false
  const path = `/sessions/${session}/draft`
  const answered = (): Response => (isLost ? problem(503, 'unavailable') : json(stored))
  startFakeServer({
    [`GET ${path}`]: answered,
    [`PUT ${path}`]: ({ body }) => {
      const { text, version } = body as Draft
      if (version !== stored.version) return problem(409, 'draft_changed')
      stored = { text, files: [], version: version + 1, updated_at: new Date().toISOString() }
      return answered()
    },
    [`DELETE ${path}`]: ({ path: asked }) => {
      if (isLost) return answered()
      if (Number(asked.split('version=')[1]) !== stored.version) return problem(409, 'draft_changed')
      stored = { ...stored, text: '', version: stored.version + 1 }
      return answered()
    },
  })
  const field = await open()
  isLost = true
  field.value = 'said once'
  field.dispatchEvent(new Event('input'))
  await vi.advanceTimersByTimeAsync(PAUSE_MS)
  expect(stored.text).toBe('said once')
  await userEvent.type(field, '{Enter}')
  await settled()
  // The page is left and comes again, as the server does.
  cleanup()
  isLost = false
  const again = await open()
  await vi.advanceTimersByTimeAsync(10 * PAUSE_MS)
  expect([again.value, recallDraft(null, session), stored.text]).toEqual(['', '', ''])
})
