// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import DraftPanel from './DraftPanel.vue'
import { hasWritten } from './index'

const suggestion = {
  ...{ id: 'sug', text: 'Better.', instruction: 'make it better', is_stale: false },
  ...{ author: { kind: 'agent', session_id: 's' }, at: '2026-01-01T00:00:00Z' },
}
const section = { id: 's1', title: 'Introduction', level: 1, brief: '', text: 'One.', etag: 'one', suggestion }
const project = {
  ...{ id: 'prj_1', title: 'A study', kind: 'paper', style: 'apa', language: 'en', authors: [], etag: 'p1' },
  ...{ sections: [section], outline_etag: 'o1', bibliography: [], sessions: ['s'], outline: [] },
  ...{ created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
}

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

describe('the panel of the draft', () => {
  it('shows what waits to be decided, and is read again when the agent has written', async () => {
    const server = startFakeServer({
      'GET /writing': () => json({ is_enabled: true, items: [project], next_cursor: null }),
      'GET /writing/prj_1': () => json(project),
      'GET /writing/prj_1/preview': () => json({ html: '<p>Set.</p>' }),
      'POST /writing/prj_1/sections/s1/suggestion/sug': () =>
        json({ ...project, sections: [{ ...section, text: 'Better.', suggestion: null }] }),
    })
    const router = createRouter({
      history: createMemoryHistory(),
      routes: [{ path: '/:rest(.*)*', component: DraftPanel }],
    })
    const shown = render(DraftPanel, { props: { sessionId: 's', version: 1 }, global: { plugins: [i18n, router] } })
    expect(await screen.findByText('For: make it better')).toBeTruthy()
    expect(screen.getByText('Open in Writing').getAttribute('href')).toBe('/writing/prj_1')
    await shown.rerender({ version: 2 })
    const reads = (): number => server.calls.filter(({ path }) => path.endsWith('/prj_1')).length
    await vi.waitFor(() => expect(reads()).toBe(2))
    await userEvent.click(screen.getByRole('button', { name: 'Accept' }))
    await vi.waitFor(() => expect(screen.queryByText('For: make it better')).toBeNull())
    const post = server.calls.find(({ method }) => method === 'POST')
    expect([post?.body, post?.headers.get('If-Match')]).toEqual([{ text: 'Better.' }, '"one"'])
  })
  it('tells which paper a citation in what would change stands for, once it is pressed', async () => {
    const paper = {
      ...{ key: 'lecun2015deep', record_id: 'rec_1', title: 'Deep learning', authors: ['Yann LeCun'], year: 2015 },
      ...{ venue: 'Nature', url: 'https://doi.org/10.1/a', is_retracted: false, is_imported: false },
    }
    const text = 'Nets learn [@lecun2015deep].'
    const changed = { ...section, text, suggestion: { ...suggestion, text: 'Nets do [@made2024up].' } }
    startFakeServer({
      'GET /writing': () => json({ is_enabled: true, items: [project], next_cursor: null }),
      'GET /writing/prj_1': () => json({ ...project, sections: [changed], bibliography: [paper] }),
      'GET /writing/prj_1/preview': () => json({ html: '<p>Set.</p>' }),
    })
    const router = createRouter({
      history: createMemoryHistory(),
      routes: [{ path: '/:rest(.*)*', component: DraftPanel }],
    })
    render(DraftPanel, { props: { sessionId: 's', version: 1 }, global: { plugins: [i18n, router] } })
    expect((await screen.findByRole('group')).textContent).toContain('-Nets learn [@lecun2015deep].')
    await userEvent.click(screen.getByRole('button', { name: '@lecun2015deep' }))
    const card = await screen.findByRole('dialog')
    expect(card.textContent).toContain('Yann LeCun · 2015 · Nature')
    expect(screen.getByText('Open in Papers').getAttribute('href')).toBe('/corpus?record=rec_1')
    await userEvent.keyboard('{Escape}')
    await userEvent.click(screen.getByRole('button', { name: '@made2024up' }))
    expect(await screen.findByText('“made2024up” is not in the bibliography.')).toBeTruthy()
  })
  it('is there once an agent has changed a project', () => {
    expect(hasWritten({ name: 'section_write', outcome: 'succeeded' })).toBe(true)
    expect(hasWritten({ name: 'section_write', outcome: 'failed' })).toBe(false)
    expect(hasWritten({ name: 'section_read', outcome: 'succeeded' })).toBe(false)
  })
})
