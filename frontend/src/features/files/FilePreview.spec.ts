// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import FilePreview from './FilePreview.vue'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

describe('FilePreview', () => {
  it.each(['empty.txt', 'empty.md', 'empty.csv', 'empty.html'])('says of %s that nothing is in it', async (name) => {
    const content = { path: name, name, size: 0, binary: false, content: '', truncated: false, language: null }
    startFakeServer({ 'GET /sessions/s/files/content': () => json(content) })
    render(FilePreview, { props: { sessionId: 's', path: name, version: 0 }, global: { plugins: [i18n] } })
    expect(await screen.findByText('This file is empty.')).toBeTruthy()
  })
  it.each([
    ['GB18030', 'Text in GB18030.'],
    ['UTF-8', null],
    [null, null],
  ])('says that a text is in %s where that is not UTF-8', async (encoding, said) => {
    const content = { path: 'a.csv', name: 'a.csv', size: 9, binary: false, content: '编号,名称', truncated: false }
    startFakeServer({ 'GET /sessions/s/files/content': () => json({ ...content, language: 'csv', encoding }) })
    render(FilePreview, { props: { sessionId: 's', path: 'a.csv', version: 0 }, global: { plugins: [i18n] } })
    expect(await screen.findByText('名称')).toBeTruthy()
    expect(screen.queryByText(/^Text in/)?.textContent.trim() ?? null).toBe(said)
  })
  it('shows the columns that semicolons part', async () => {
    const content = { path: 'a.csv', name: 'a.csv', size: 9, binary: false, truncated: false, language: 'csv' }
    const text = 'Name;Preis;Größe\nMüller;3,50;groß\n'
    startFakeServer({ 'GET /sessions/s/files/content': () => json({ ...content, content: text }) })
    render(FilePreview, { props: { sessionId: 's', path: 'a.csv', version: 0 }, global: { plugins: [i18n] } })
    expect(await screen.findByText('3,50')).toBeTruthy()
  })
  it('runs a page from the link to its folder once that is asked for, and copies a link that opens it', async () => {
    const page = { path: 'site/my page.html', name: 'my page.html', size: 9, binary: false, truncated: false }
    let answer = (): Response => json({ url: 'https://files.example.org/api/files/token', expires_at: '' })
    const { calls } = startFakeServer({
      'GET /sessions/s/files/content': () => json({ ...page, content: '<p>hi', language: 'html' }),
      'POST /sessions/s/files/link': () => answer(),
    })
    const props = { sessionId: 's', path: page.path, version: 0 }
    const { rerender } = render(FilePreview, { props, global: { plugins: [i18n] } })
    const frame = () => screen.getByTitle('my page.html')
    await screen.findByTitle('my page.html')
    expect([frame().getAttribute('sandbox'), frame().getAttribute('src')]).toEqual(['', null])
    await userEvent.click(screen.getByRole('button', { name: 'Run it' }))
    await vi.waitFor(() => expect(frame().getAttribute('src')).toBe('/api/files/token/my%20page.html'))
    expect(frame().getAttribute('sandbox')).toBe('allow-scripts allow-modals')
    expect(calls.find(({ method }) => method === 'POST')?.body).toEqual({ path: 'site', folder: true, running: true })
    answer = () => json({ url: '/api/files/newer', expires_at: '' })
    await rerender({ version: 1 })
    await vi.waitFor(() => expect(frame().getAttribute('src')).toContain('newer'))
    await userEvent.click(screen.getByRole('button', { name: 'Stop it' }))
    expect(frame().getAttribute('src')).toBeNull()
    answer = () => problem(404, 'file_missing')
    await userEvent.click(screen.getByRole('button', { name: 'Run it' }))
    expect(await screen.findByRole('alert')).toBeTruthy()
    expect(frame().getAttribute('sandbox')).toBe('')

    await userEvent.click(screen.getByRole('button', { name: 'Copy the link to my page.html' }))
    await screen.findByRole('button', { name: 'Link copied' })
    const written = await navigator.clipboard.readText()
    expect(written).toContain('/s/s?')
    const query = new URLSearchParams(written.slice(written.indexOf('?')))
    expect([query.get('panel'), query.get('path')]).toEqual(['files', 'site/my page.html'])
  })
})
