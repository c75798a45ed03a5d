// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { CorpusMatch } from '@/api/types'
import { hasPapers, matchAttached, offerAttachedPapers } from '@/features/research'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { keepFiles, trayOf } from './drafts'
import UploadChips from './UploadChips.vue'
import { useUploads } from './uploads'
import UserBubble from './UserBubble.vue'

vi.mock('@/api/upload', () => ({
  uploadFiles: (_: string, [file]: readonly File[]) => Promise.resolve([`uploads/${file?.name}`]),
}))

let session = 0
let sessionId = ''
beforeEach(() => (sessionId = `s${++session}`))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})
const nothing: CorpusMatch = { record: null, offered: null }
const record = { id: 'rec_1', title: 'Deep learning' } as NonNullable<CorpusMatch['record']>
const pdf = (name = 'paper.pdf'): File => new File(['%PDF-'], name, { type: 'application/pdf' })
const uploadsOf = () =>
  useUploads(
    () => trayOf('u', sessionId),
    () => Promise.reject(new Error('has begun')),
  )

/** What a conversation shows of the files of its composer, and of a message that was sent with them. */
function show(sent: readonly string[] = [], of: string | null = sessionId) {
  const uploads = uploadsOf()
  const Page = defineComponent(() => {
    if (of !== null) offerAttachedPapers(() => of)
    return () => [
      h(UploadChips, { uploads: uploads.list.value }),
      h(UserBubble, { text: 'Look.', attachments: [...sent] }),
    ]
  })
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/:rest(.*)*', component: Page }] })
  render(Page, { global: { plugins: [i18n, router] } })
  return uploads
}
type Answers = Parameters<typeof startFakeServer>[0]
const serve = (match: Answers[string], answers: Answers = {}) =>
  startFakeServer({ 'POST /corpus/match': match, ...answers })
const asked = (server: ReturnType<typeof serve>) => server.calls.filter(({ path }) => path.startsWith('/corpus/match'))

describe('a PDF that is dropped into a conversation', () => {
  it('is matched once it has arrived, and its chip and its message link the record', async () => {
    const server = serve(() => json({ record, offered: null }))
    const uploads = show(['uploads/paper.pdf'])
    await uploads.add([pdf(), new File(['x'], 'notes.txt')])
    const links = await screen.findAllByRole('link', { name: 'Paper: Deep learning' })
    expect(links.map((link) => link.getAttribute('href'))).toEqual(['/corpus?record=rec_1', '/corpus?record=rec_1'])
    expect(asked(server).map(({ path }) => path)).toEqual([
      `/corpus/match?session_id=${sessionId}&path=uploads%2Fpaper.pdf`,
    ])
  })
  it('is matched also where its message is sent before the answer comes', async () => {
    let answer = (): void => undefined
    const waits = new Promise<void>((resolve) => (answer = resolve))
    serve(() => waits.then(() => json({ record, offered: null })))
    const uploads = show(['uploads/paper.pdf'])
    await uploads.add([pdf()])
    expect(uploads.takeAll()).toEqual(['uploads/paper.pdf'])
    answer()
    expect(await screen.findAllByRole('link', { name: 'Paper: Deep learning' })).toHaveLength(1)
  })
  it('is known after a reload too, beside its message and in the draft, by one question', async () => {
    const offered = { id: '10.1/b', title: 'Of trees' }
    const items = [
      { path: 'uploads/paper.pdf', record, offered: null },
      { path: 'uploads/draft.pdf', record: null, offered },
    ]
    keepFiles('u', sessionId, [
      { id: '1', name: 'draft.pdf', path: 'uploads/draft.pdf', progress: 1, problem: null, file: null },
    ])
    let isAway = true
    const { calls } = startFakeServer({
      'GET /corpus/attached': () => (isAway ? problem(503, 'unavailable') : json({ linked: 1, items })),
    })
    show(['uploads/paper.pdf'])
    await vi.waitFor(() => expect(calls.length).toBeGreaterThan(0))
    expect([screen.queryByRole('link'), hasPapers(sessionId)]).toEqual([null, false])
    cleanup()
    isAway = false
    calls.length = 0
    show(['uploads/paper.pdf', 'uploads/other.pdf'])
    expect(await screen.findByRole('link', { name: 'Paper: Deep learning' })).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Keep in Papers: Of trees' })).toBeTruthy()
    expect(calls.map(({ path }) => path)).toEqual([`/corpus/attached?session_id=${sessionId}`])
    expect(hasPapers(sessionId)).toBe(true)
  })
  it('is offered to be kept where sources know it, and says why where that fails', async () => {
    let fails = true
    const offered = { id: '10.1/a', title: 'Deep learning' }
    const server = serve(() => json({ record: null, offered }), {
      'POST /corpus': () =>
        fails
          ? problem(502, 'sources_failed', 'No source answered.')
          : json({ record, is_new: true, notices: [] }, 201),
    })
    await show().add([pdf()])
    const keep = await screen.findByRole('button', { name: 'Keep in Papers: Deep learning' })
    await userEvent.click(keep)
    expect((await screen.findByRole('alert')).textContent).not.toBe('')
    fails = false
    await userEvent.click(keep)
    await screen.findByRole('link', { name: 'Paper: Deep learning' })
    const added = server.calls.filter(({ method, path }) => method === 'POST' && path === '/corpus')
    expect(added.at(-1)?.body).toEqual({ id: '10.1/a', session_id: sessionId })
  })
  it('says nothing where it is no paper, can’t be read, or belongs to another conversation', async () => {
    let turn = 0
    const server = serve(() => (turn++ === 0 ? json(nothing) : problem(422, 'invalid', 'This is no PDF.')))
    const uploads = show()
    await uploads.add([pdf(), pdf('broken.pdf')])
    await vi.waitFor(() => expect(asked(server)).toHaveLength(2))
    expect(screen.queryByRole('alert')).toBeNull()
    expect(screen.queryByRole('link')).toBeNull()
    cleanup()
    serve(() => json({ record, offered: null }))
    show(['uploads/other.pdf'])
    matchAttached('another', 'uploads/other.pdf', pdf())
    matchAttached(sessionId, 'uploads/mine.pdf', pdf())
    const { matchOf } = await import('@/features/research/matchedFiles')
    await vi.waitFor(() => expect(matchOf(sessionId, 'uploads/mine.pdf')).toBeTruthy())
    expect(matchOf('another', 'uploads/other.pdf')).toBeTruthy()
    expect(screen.queryByRole('link')).toBeNull()
  })
})
