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
})
