// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { hasKept, showRecord } from '.'
import PapersPanel from './PapersPanel.vue'

const record = {
  ...{ id: 'rec_1', paper_id: 'doi:10.1/a', title: 'Deep learning', authors: ['Y. LeCun'], abstract: '' },
  ...{ year: 2015, venue: 'Nature', source: 'openalex', url: '', doi: '10.1/a', arxiv_id: '', citations: null },
  ...{ kind: '', volume: '', issue: '', pages: '', publisher: '', pdf: '', is_retracted: false, notes: '', tags: [] },
  ...{ sessions: ['s1'], added_by: 'agent', is_imported: false, created_at: '2026-01-01T00:00:00Z', etag: 'one' },
}
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

it('shows the papers of the conversation, reads them again as the agent works, and opens one', async () => {
  const server = startFakeServer({
    'GET /corpus': () => json({ is_enabled: true, items: [record], total: 1, next_cursor: null }),
    'GET /corpus/tags': () => json([]),
  })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:rest(.*)*', component: PapersPanel }],
  })
  const shown = render(PapersPanel, { props: { sessionId: 's1', version: 1 }, global: { plugins: [i18n, router] } })
  const asked = () => server.calls.filter(({ path }) => path.startsWith('/corpus?')).map(({ path }) => path)
  const row = await screen.findByRole('button', { name: /Deep learning/ })
  expect(asked()[0]).toContain('session_id=s1')
  await shown.rerender({ sessionId: 's1', version: 2 })
  await vi.waitFor(() => expect(asked()).toHaveLength(2))
  await userEvent.click(screen.getByLabelText('All papers'))
  await vi.waitFor(() => expect(asked()).toHaveLength(3))
  expect(asked()[2]).not.toContain('session_id')
  await userEvent.click(row)
  expect(await screen.findByRole('heading', { name: 'Deep learning' })).toBeTruthy()
})

it('shows the record that was pressed in an answer, also before it is there, and says where it is gone', async () => {
  startFakeServer({
    'GET /corpus': () => json({ is_enabled: true, items: [], total: 0, next_cursor: null }),
    'GET /corpus/tags': () => json([]),
    'GET /corpus/rec_1': () => json(record),
    'GET /corpus/rec_2': () => problem(404, 'record_not_found', 'The corpus has no record rec_2.'),
  })
  showRecord('rec_2')
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:rest(.*)*', component: PapersPanel }],
  })
  render(PapersPanel, { props: { sessionId: 's1', version: 1 }, global: { plugins: [i18n, router] } })
  expect((await screen.findByRole('alert')).textContent).not.toBe('')
  showRecord('rec_1')
  expect(await screen.findByRole('heading', { name: 'Deep learning' })).toBeTruthy()
})

it('links the record of a PDF, and offers a paper that is not kept', async () => {
  let offered = true
  const server = startFakeServer({
    'GET /corpus': () => json({ is_enabled: true, items: [], total: 0, next_cursor: null }),
    'GET /corpus/tags': () => json([]),
    'POST /corpus': () => json({ record, is_new: true, notices: [] }, 201),
    'POST /corpus/match': () =>
      json(offered ? { record: null, offered: { id: '10.1/a', title: 'Deep learning' } } : { record, offered: null }),
  })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:rest(.*)*', component: PapersPanel }],
  })
  render(PapersPanel, { props: { sessionId: 's1', version: 1 }, global: { plugins: [i18n, router] } })
  const file = new File(['%PDF-'], 'paper.pdf', { type: 'application/pdf' })
  await userEvent.upload(await screen.findByLabelText('Find the paper of a PDF', { selector: 'input' }), file)
  await screen.findByText(/You do not keep it yet: “Deep learning”/)
  expect(server.calls.some(({ path }) => path === '/corpus/match?session_id=s1')).toBe(true)
  await userEvent.click(screen.getByRole('button', { name: 'Add' }))
  expect(await screen.findByRole('heading', { name: 'Deep learning' })).toBeTruthy()
  const added = server.calls.find(({ method, path }) => method === 'POST' && path === '/corpus')
  expect(added?.body).toEqual({ id: '10.1/a', session_id: 's1' })
  offered = false
  await userEvent.click(screen.getAllByRole('button', { name: 'Back to the list' })[0] as HTMLElement)
  await userEvent.upload(await screen.findByLabelText('Find the paper of a PDF', { selector: 'input' }), file)
  expect(await screen.findByRole('heading', { name: 'Deep learning' })).toBeTruthy()
})

it('knows which calls change what is kept', () => {
  expect(hasKept({ name: 'corpus_add', outcome: 'succeeded' })).toBe(true)
  expect(hasKept({ name: 'corpus_add', outcome: 'failed' })).toBe(false)
  expect(hasKept({ name: 'corpus_list', outcome: 'succeeded' })).toBe(false)
})
