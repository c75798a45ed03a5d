// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
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
})
