// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { addTexts, i18n, setLanguage } from '@/i18n'
import zh from '@/i18n/zh'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import CorpusPage from './CorpusPage.vue'
import { formatOf } from './useCorpus'

const record = {
  ...{ id: 'rec_1', paper_id: 'doi:10.1/a', title: 'Deep learning', authors: ['Y. LeCun'], abstract: 'About nets.' },
  ...{ year: 2015, venue: 'Nature', source: 'openalex', url: 'https://doi.org/10.1/a', doi: '10.1/a', arxiv_id: '' },
  ...{ kind: 'article-journal', volume: '521', issue: '7553', pages: '436–444', publisher: 'Springer' },
  ...{ pdf: '', citations: 10, is_retracted: false, notes: '', tags: ['nets'], sessions: [], added_by: 'person' },
  ...{ is_imported: false, created_at: '2026-01-01T00:00:00Z', etag: 'one' },
}
const pageOf = (...items: object[]) => ({ is_enabled: true, items, total: items.length, next_cursor: null })

afterEach(() => {
  cleanup()
  void setLanguage('en')
  vi.unstubAllGlobals()
})

async function show(answers: Parameters<typeof startFakeServer>[0] = {}, at = '/corpus') {
  const server = startFakeServer({
    'GET /corpus': () => json(pageOf(record)),
    'GET /corpus/tags': () => json([{ tag: 'nets', count: 1 }]),
    'GET /corpus/rec_1': () => json(record),
    ...answers,
  })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/', component: { template: '<div />' } },
      { path: '/corpus', component: CorpusPage },
    ],
  })
  await router.push(at)
  render({ template: '<RouterView />' }, { global: { plugins: [i18n, router] } })
  return server
}

describe('the page of papers', () => {
  it('says where there are none, and where this server has none', async () => {
    await show({ 'GET /corpus': () => json(pageOf()) })
    expect(await screen.findByText(/No papers here yet/)).toBeTruthy()
    expect(screen.queryByLabelText('Find'), 'there is nothing to find').toBeNull()
    expect(screen.queryByText(/Choose a paper/)).toBeNull()
    cleanup()
    await show({ 'GET /corpus': () => json({ ...pageOf(), is_enabled: false }) })
    expect(await screen.findByText(/This server has no papers/)).toBeTruthy()
  })
  it('opens a record by keyboard, saves tags and notes as they were read, and goes back', async () => {
    const changed = { ...record, tags: ['nets', 'read'], notes: 'Good', etag: 'two' }
    const server = await show({ 'PATCH /corpus/rec_1': () => json(changed) })
    const row = await screen.findByRole('button', { name: /Deep learning/ })
    row.focus()
    await userEvent.keyboard('{Enter}')
    await vi.waitFor(() => expect(document.activeElement?.textContent).toBe('Deep learning'))
    expect(screen.getByText('Nature 521(7553), 436–444, 2015')).toBeTruthy()
    await userEvent.type(screen.getByLabelText('Notes'), 'Good')
    await userEvent.type(screen.getByLabelText('Tags'), ', read')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Saved.')).toBeTruthy()
    const patch = server.calls.find(({ method }) => method === 'PATCH')
    expect(patch?.body).toEqual({ notes: 'Good', tags: ['nets', 'read'] })
    expect(patch?.headers.get('If-Match')).toBe('"one"')
    await userEvent.click(screen.getByRole('button', { name: 'Back to the list' }))
    await vi.waitFor(() => expect(document.activeElement?.getAttribute('data-record')).toBe('rec_1'))
  })
  it('shows what somebody else wrote meanwhile, and loses neither', async () => {
    let saved = 0
    const server = await show(
      {
        'GET /corpus/rec_1': () => json({ ...record, notes: 'Theirs', etag: 'two' }),
        'PATCH /corpus/rec_1': ({ headers }) => {
          if (headers.get('If-Match') !== '"two"') return problem(412, 'record_changed')
          saved += 1
          return json({ ...record, notes: 'Mine', etag: 'three' })
        },
      },
      '/corpus',
    )
    await userEvent.click(await screen.findByRole('button', { name: /Deep learning/ }))
    await userEvent.type(await screen.findByLabelText('Notes'), 'Mine')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Theirs')).toBeTruthy()
    expect(saved).toBe(0)
    await userEvent.click(screen.getByRole('button', { name: 'Keep mine' }))
    await vi.waitFor(() => expect(saved).toBe(1))
    expect(server.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(2)
  })
  it('adds by an id and says what was wrong with one', async () => {
    await show({ 'POST /corpus': () => problem(404, 'paper_not_found', 'No source has a paper with the id 10.1/x.') })
    await userEvent.type(await screen.findByLabelText('Add by DOI, arXiv id or address'), '10.1/x{Enter}')
    expect(await screen.findByText(/No source has a paper/)).toBeTruthy()
    cleanup()
    const answer = { record, is_new: true, notices: ['arXiv responded with an error (500).'] }
    await show({ 'POST /corpus': () => json(answer, 201) })
    await userEvent.type(await screen.findByLabelText('Add by DOI, arXiv id or address'), '10.1/a{Enter}')
    expect(await screen.findByText(/Added “Deep learning”. arXiv responded with an error/)).toBeTruthy()
  })
  it('takes in a file and tells which of its lines are broken', async () => {
    const broken = [{ line: 7, reason: 'It has no title.', begins: '@misc{x' }]
    const server = await show({ 'POST /corpus/import': () => json({ added: 2, merged: 1, broken }, 201) })
    const file = new File(['@misc{x'], 'refs.bib')
    await userEvent.upload(await screen.findByLabelText('Import', { selector: 'input' }), file)
    expect(await screen.findByText('2 added, 1 known before, 1 broken.')).toBeTruthy()
    expect(screen.getByText(/Line 7: It has no title/)).toBeTruthy()
    expect(server.calls.some(({ path }) => path === '/corpus/import?format=bibtex')).toBe(true)
  })
  it('asks the server for what the filters leave', async () => {
    const server = await show()
    await screen.findByRole('option', { name: 'nets (1)' })
    await userEvent.selectOptions(screen.getByLabelText('Tag'), 'nets')
    await userEvent.type(screen.getByLabelText('From year'), '2015')
    await vi.waitFor(() =>
      expect(server.calls.some(({ path }) => path.includes('tag=nets') && path.includes('year_from=2015'))).toBe(true),
    )
  })
  it('has its filters behind one button on a phone, which says how many are set, and says where none fits', async () => {
    await show({
      'GET /corpus': ({ path }: { path: string }) => json(path.includes('year_to') ? pageOf() : pageOf(record)),
    })
    await userEvent.selectOptions(await screen.findByLabelText('Source'), 'arxiv')
    const button = screen.getByRole('button', { name: '1 filter set' })
    const folded = document.getElementById(button.getAttribute('aria-controls') ?? '')
    expect(folded?.contains(screen.getByLabelText('To year'))).toBe(true)
    expect(folded?.contains(screen.getByLabelText('Find'))).toBe(false)
    expect(button.getAttribute('aria-expanded')).toBe('false')
    expect(folded?.classList).toContain('max-wide:hidden')
    await userEvent.click(button)
    expect(button.getAttribute('aria-expanded')).toBe('true')
    expect(folded?.classList).not.toContain('max-wide:hidden')
    await userEvent.type(screen.getByLabelText('To year'), '1990')
    expect(screen.getByRole('button', { name: '2 filters set' })).toBe(button)
    expect(await screen.findByText('No paper fits the filters.')).toBeTruthy()
  })
  it('gives the papers out as a file that is named in the language of the page', async () => {
    const names: string[] = []
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      names.push(this.download)
    })
    await show({ 'GET /corpus/export': () => new Response('TY  - JOUR') })
    await userEvent.click(await screen.findByRole('button', { name: 'Export RIS' }))
    await vi.waitFor(() => expect(names).toEqual(['papers.ris']))
    addTexts('zh', zh)
    await setLanguage('zh')
    await userEvent.click(await screen.findByRole('button', { name: /BibTeX/ }))
    await vi.waitFor(() => expect(names).toEqual(['papers.ris', '论文.bib']))
    vi.restoreAllMocks()
  })
  it('knows the form of a file by its name, else by its text', () => {
    expect(formatOf('a.RIS', '')).toBe('ris')
    expect(formatOf('a.bib', 'TY  - JOUR')).toBe('bibtex')
    expect(formatOf('a.txt', '\nTY  - JOUR')).toBe('ris')
    expect(formatOf('a.txt', '@misc{')).toBe('bibtex')
  })
  it('puts a paper into the bibliography of a project', async () => {
    const reference = { key: 'lecun2015deep', record_id: 'rec_1' }
    const server = await show(
      {
        'GET /writing': () => json({ is_enabled: true, items: [{ id: 'prj_1', title: 'A study' }], next_cursor: null }),
        'POST /writing/prj_1/bibliography': () => json({ id: 'prj_1', title: 'A study', bibliography: [reference] }),
      },
      '/corpus?record=rec_1',
    )
    await userEvent.click(await screen.findByRole('button', { name: 'Use in a project' }))
    await screen.findByRole('combobox', { name: 'Your projects' })
    await userEvent.click(screen.getByRole('button', { name: 'Use in a project' }))
    expect(await screen.findByText(/It is cited as \[@lecun2015deep\] in/)).toBeTruthy()
    expect(screen.getByRole('link', { name: 'A study' }).getAttribute('href')).toBe('/writing/prj_1')
    expect(server.calls.find(({ method }) => method === 'POST')?.body).toEqual({ record_id: 'rec_1' })
  })
})
