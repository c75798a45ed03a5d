// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import * as upload from '@/api/upload'
import { ApiError } from '@/api/problems'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import FolderFiles from './FolderFiles.vue'

const file = (name: string, size = 3) => ({ id: name, name, size, added_at: '2026-01-01T00:00:00Z' })
let kept: ReturnType<typeof file>[]
let removal: () => Response
const refused = new Map<string, ApiError>()

beforeEach(() => {
  kept = [file('a.txt')]
  removal = () => {
    kept = kept.filter(({ id }) => id !== 'a.txt')
    return new Response(null, { status: 204 })
  }
  refused.clear()
  startFakeServer({
    'GET /folders/w/files': () => json({ items: kept }),
    'DELETE /folders/w/files/a.txt': () => removal(),
  })
  // The browser's own request, which no test environment has.
  vi.spyOn(upload, 'uploadTo').mockImplementation((path, files) => {
    expect(path).toBe('/folders/w/files')
    const [added] = files as [File]
    const refusal = refused.get(added.name)
    if (refusal) return Promise.reject(refusal)
    kept = [...kept, file(added.name, added.size)]
    return Promise.resolve({ items: [] } as never)
  })
})
afterEach(() => {
  cleanup()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})
const show = () => render(FolderFiles, { props: { folderId: 'w' }, global: { plugins: [i18n] } })
const rows = () => screen.queryAllByRole('listitem').map((row) => row.textContent)

it('lists the files, adds those that are chosen or dropped, and deletes one', async () => {
  show()
  await screen.findByRole('listitem')
  await userEvent.upload(screen.getByLabelText('Add files', { selector: 'input' }), [new File(['12345'], 'b.txt')])
  await vi.waitFor(() => expect(rows()).toHaveLength(2))
  expect(rows()[1]).toContain('5 B')
  const dataTransfer = { files: [new File(['1'], 'c.txt')] }
  await fireEvent.drop(screen.getByRole('region', { name: 'Files' }), { dataTransfer })
  await vi.waitFor(() => expect(rows()).toHaveLength(3))
  await userEvent.click(screen.getByRole('button', { name: 'Delete a.txt' }))
  await vi.waitFor(() => expect(rows()).toHaveLength(2))
})
it('says which one was refused and why, and adds none after it', async () => {
  show()
  await screen.findByRole('listitem')
  refused.set('c.txt', new ApiError(413, 'folder_full', 'The folder is full.'))
  const chosen = ['b.txt', 'c.txt', 'd.txt'].map((name) => new File(['1'], name))
  await userEvent.upload(screen.getByLabelText('Add files', { selector: 'input' }), chosen)
  expect((await screen.findByRole('alert')).textContent).toContain('c.txt: The folder is full.')
  expect(rows()).toHaveLength(2)
})
it('takes one that somebody else deleted for deleted', async () => {
  show()
  await screen.findByRole('listitem')
  kept = []
  removal = () => problem(404, 'folder_file_not_found')
  await userEvent.click(screen.getByRole('button', { name: 'Delete a.txt' }))
  await vi.waitFor(() => expect(rows()).toEqual([]))
  expect(screen.queryByRole('alert')).toBeNull()
})
