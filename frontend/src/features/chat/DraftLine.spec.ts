// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick } from 'vue'
import type { Draft } from '@/api/types'
import { i18n } from '@/i18n'
import { forgetUnsentWords } from '@/shared/lib/storage'
import {
  json,
  openFakeStream,
  problem,
  startFakeServer,
  type FakeServer,
  type FakeStream,
} from '@/shared/testing/fakeServer'
import ComposerBox from './ComposerBox.vue'
import { useConversation } from './conversation'
import DraftLine from './DraftLine.vue'
import { draftKeys, keepDraft, moveDraft, recallDraft, recallState, trayOf } from './drafts'
import { PAUSE_MS } from './useDraftSync'

let stored: Draft
let isAway: boolean
let server: FakeServer
/** Each test has its own: the files of one stay with it. */
let session = ''
let writer: string | null = null
/** What another device did, `after` so many milliseconds from now. */
function elsewhere(text: string, files: string[] = [], after = 0): void {
  stored = { text, files, version: stored.version + 1, updated_at: new Date(Date.now() + after).toISOString() }
}
function write(version: number, text: string, files: string[]): Response {
  if (isAway) return problem(503, 'unavailable')
  if (version !== stored.version) return problem(409, 'draft_changed')
  elsewhere(text, files)
  return json(stored)
}
beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
  vi.useFakeTimers({ shouldAdvanceTime: true })
  session = crypto.randomUUID()
  stored = { text: '', files: [], version: 0, updated_at: null }
  isAway = false
  writer = null
  const path = `/sessions/${session}/draft`
  server = startFakeServer({
    [`GET ${path}`]: () => (isAway ? problem(503, 'unavailable') : json(stored)),
    [`PUT ${path}`]: ({ body }) => {
      const { version, text, files } = body as Draft
      return write(version, text, files)
    },
    [`DELETE ${path}`]: ({ path: asked }) => write(Number(asked.split('version=')[1]), '', []),
  })
})
afterEach(async () => {
  cleanup()
  useConversation().close(true)
  await settled()
  vi.useRealTimers()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const Page = defineComponent(() => () => [
  h(DraftLine, { writer, sessionId: session }),
  h(ComposerBox, {
    ...{ writer, sessionId: session, isRunning: false, isStopping: false },
    ensureSession: () => Promise.resolve(session),
  }),
])
const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(50)
async function open(): Promise<void> {
  render(Page, { global: { plugins: [i18n] } })
  await settled()
}
const field = (): HTMLTextAreaElement => screen.getByRole('textbox', { name: 'Message' })
async function type(text: string): Promise<void> {
  field().value = text
  field().dispatchEvent(new Event('input'))
  await settled()
}
const writes = () => server.calls.filter(({ method }) => method !== 'GET').map(({ method, body }) => [method, body])
const file = (path: string) => ({ id: path, name: path, path, progress: 1, problem: null, file: null })
function see(state: 'visible' | 'hidden'): void {
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue(state)
  document.dispatchEvent(new Event('visibilitychange'))
}

it('is saved after a pause and not while nothing changes, and cleared as the message goes', async () => {
  await open()
  for (const text of ['h', 'he', 'hello']) await type(text)
  expect(writes()).toEqual([])
  await vi.advanceTimersByTimeAsync(PAUSE_MS)
  trayOf(writer, session).list.value = [file('in/a.txt')]
  await vi.advanceTimersByTimeAsync(10 * PAUSE_MS)
  expect(writes()).toEqual([
    ['PUT', { text: 'hello', files: [], version: 0 }],
    ['PUT', { text: 'hello', files: ['in/a.txt'], version: 1 }],
  ])
  await userEvent.type(field(), '{Enter}')
  await settled()
  expect(writes()).toHaveLength(3)
  expect(stored).toMatchObject({ text: '', files: [], version: 3 })
  await vi.advanceTimersByTimeAsync(10 * PAUSE_MS)
  expect(writes()).toHaveLength(3)
})
it('is saved at times of somebody who makes no pause', async () => {
  await open()
  for (let at = 0; at < 20; at += 1) {
    await type('x'.repeat(at + 1))
    await vi.advanceTimersByTimeAsync(1000)
  }
  expect(writes()).toHaveLength(1)
})
it('is there on another device with its files, and when one comes back to this one', async () => {
  elsewhere('from the phone', ['in/photo.png'])
  await open()
  expect(field().value).toBe('from the phone')
  expect(trayOf(writer, session).list.value.map(({ name, path }) => [name, path])).toEqual([
    ['photo.png', 'in/photo.png'],
  ])
  see('hidden')
  elsewhere('from the phone, and more')
  see('visible')
  await settled()
  expect(field().value).toBe('from the phone, and more')
  expect(trayOf(writer, session).list.value).toEqual([])
  await vi.advanceTimersByTimeAsync(10 * PAUSE_MS)
  expect(writes()).toEqual([])
  expect(screen.queryByRole('status')).toBeNull()
})
it('gives back the one here that a newer one took the place of', async () => {
  keepDraft(writer, session, 'written here')
  elsewhere('written later elsewhere', [], 60_000)
  await open()
  expect(field().value).toBe('written later elsewhere')
  expect(screen.getByRole('status').textContent).toContain('“written here”')
  cleanup()
  // Also over a reload.
  await open()
  await userEvent.click(screen.getByRole('button', { name: 'Use the other' }))
  expect(field().value).toBe('written here')
  expect(screen.getByRole('status').textContent).toContain('“written later elsewhere”')
  await vi.advanceTimersByTimeAsync(PAUSE_MS)
  expect(stored.text).toBe('written here')
  await userEvent.click(screen.getByRole('button', { name: 'Discard it' }))
  expect(screen.queryByRole('status')).toBeNull()
})
it('keeps the newer one here, saves it, and has the other one at hand', async () => {
  await open()
  elsewhere('older, from elsewhere', [], -60_000)
  await type('newer')
  await vi.advanceTimersByTimeAsync(PAUSE_MS)
  expect(field().value).toBe('newer')
  expect(stored).toMatchObject({ text: 'newer', version: 2 })
  expect(screen.getByRole('status').textContent).toContain('“older, from elsewhere”')
})
it('does not clear with its message what was written elsewhere meanwhile', async () => {
  elsewhere('hello')
  await open()
  elsewhere('hello, and what I did not send')
  await userEvent.type(field(), '{Enter}')
  await settled()
  expect(stored.text).toBe('hello, and what I did not send')
  expect(field().value).toBe('hello, and what I did not send')
})
it('goes here too where it was sent from another device', async () => {
  const said = (seq: number) => ({
    ...{ at: '', session_id: session, run_id: 'r', seq, type: 'message.user', message_id: `m${seq}` },
    ...{ text: 'said', attachments: [], client_message_id: null },
  })
  let stream: FakeStream | null = null
  elsewhere('written on both')
  const path = `/sessions/${session}`
  const { calls } = startFakeServer({
    [`GET ${path}/draft`]: () => json(stored),
    [`GET ${path}/state`]: () => json({ session: { id: session }, sandbox: null, last_seq: 1 }),
    [`GET ${path}/events`]: ({ path: asked, signal }) =>
      asked.includes('format=json')
        ? json({ items: [said(1)], last_seq: 1, has_more: false })
        : (stream = openFakeStream(signal)).response,
  })
  await useConversation().open(session)
  await open()
  expect(field().value).toBe('written on both')
  elsewhere('')
  await vi.waitFor(() => expect(stream).not.toBeNull())
  stream!.send(`id: 2\nevent: message.user\ndata: ${JSON.stringify(said(2))}\n\n`)
  await vi.waitFor(() => expect(field().value).toBe(''))
  expect(calls.filter(({ path: asked }) => asked.endsWith('/draft'))).toHaveLength(2)
})
it('stays here while the server is away, and is saved once it is there again', async () => {
  isAway = true
  await open()
  await type('offline')
  await vi.advanceTimersByTimeAsync(PAUSE_MS)
  expect([stored.text, recallDraft(writer, session)]).toEqual(['', 'offline'])
  isAway = false
  window.dispatchEvent(new Event('online'))
  await settled()
  expect(stored.text).toBe('offline')
})
it('is one in all tabs of a browser, of which the one that writes saves it', async () => {
  await open()
  const told = (key: string | undefined): boolean => window.dispatchEvent(new StorageEvent('storage', { key: key! }))
  const [text, files] = draftKeys(writer, session)
  localStorage.setItem(text!, 'of the other tab')
  localStorage.setItem(files!, JSON.stringify([{ name: 'a.txt', path: 'in/a.txt' }]))
  told(text)
  told(files)
  await nextTick()
  expect(field().value).toBe('of the other tab')
  expect(trayOf(writer, session).list.value.map(({ path }) => path)).toEqual(['in/a.txt'])
  await vi.advanceTimersByTimeAsync(10 * PAUSE_MS)
  expect(writes()).toEqual([])
})
it('is saved as one goes on to another conversation, and stays with the server after a log-out', async () => {
  await open()
  await type('not finished')
  cleanup()
  await settled()
  expect(stored.text).toBe('not finished')
  await open()
  forgetUnsentWords('')
  cleanup()
  await settled()
  expect([stored.text, recallDraft(writer, session)]).toEqual(['not finished', ''])
})
it('goes with the other one to the next conversation where this one is gone', async () => {
  keepDraft(writer, session, 'here')
  elsewhere('there', [], 60_000)
  await open()
  cleanup()
  expect(moveDraft(writer, session)).toBe(true)
  expect(recallDraft(writer, null)).toBe('there\n\nhere')
  expect(recallState(writer, session)).toEqual({ version: 0, changedAt: 0 })
})
it('goes to the server as who writes it, and as nobody else who logged in meanwhile', async () => {
  writer = 'somebody'
  await open()
  await type('for my eyes')
  await vi.advanceTimersByTimeAsync(10 * PAUSE_MS)
  cleanup()
  await settled()
  expect([server.calls, recallDraft(writer, session)]).toEqual([[], 'for my eyes'])
})
it('asks no more where the server keeps none', async () => {
  server = startFakeServer({})
  await open()
  await type('words')
  await vi.advanceTimersByTimeAsync(10 * PAUSE_MS)
  expect([server.calls.length, recallDraft(writer, session)]).toEqual([1, 'words'])
})
