// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import FilesPanel from './FilesPanel.vue'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const fileAt = (path: string) => ({ path, name: path, is_dir: false, size: 3, modified_at: '2026-01-01T00:00:00Z' })

function show(...paths: string[]) {
  startFakeServer({
    'GET /sessions/s/files': () => json(paths.map(fileAt)),
    'GET /sessions/s/files/content': () =>
      json({ ...fileAt(paths[0] ?? ''), binary: false, content: 'abc', truncated: false, language: null }),
  })
  const props = { sessionId: 's', version: 0, isComputerReady: true, isRunning: false, shown: null }
  const { rerender } = render(FilesPanel, {
    props: { ...props, 'onUpdate:shown': (shown: string | null) => void rerender({ shown }) } as typeof props,
    global: { plugins: [i18n] },
  })
}

describe('the files of the computer', () => {
  it('hand the focus to a file that is opened, and have it again where it was once that is shown no more', async () => {
    show('a.txt', 'b.txt')
    const row = (await screen.findByText('b.txt')).closest('button')
    row?.focus()
    await userEvent.keyboard('{Enter}')
    const back = await screen.findByRole('button', { name: 'Back to files' })
    await vi.waitFor(() => expect(document.activeElement).toBe(back))
    await userEvent.keyboard('{Enter}')
    await vi.waitFor(() => expect(document.activeElement?.textContent).toContain('b.txt'))
  })
  it('have names that are shown as they are, whatever their characters do', async () => {
    show('a\u202Etxt.exe')
    const name = await screen.findByText('a⟨U+202E⟩txt.exe')
    expect(name.dir).toBe('ltr')
    await userEvent.click(name)
    expect(await screen.findByRole('region', { name: /a⟨U\+202E⟩txt\.exe/ })).toBeTruthy()
    expect(document.body.innerHTML).not.toContain('\u202E')
  })
})
