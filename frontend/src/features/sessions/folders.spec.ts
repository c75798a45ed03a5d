// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Session } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { routerAt } from '@/shared/testing/routerAt'
import { useFolders } from './folders'
import SessionGroups from './SessionGroups.vue'
import { useSessions } from './store'

const at = new Date().toISOString()
const times = { created_at: at, updated_at: at, active_at: at }
const tea: Session = {
  ...{ id: 's1', title: 'Tea', status: 'idle', model: null, preset: null, options: {}, pinned: false },
  ...{ archived: false, folder_id: 'w', last_seq: 0, read_seq: 0, unread: 0, failed: false, sandbox: null },
  ...times,
}
const work = { id: 'w', name: 'Work', instructions: 'Cite sources.', created_at: at }
/** A menu is opened again and again, on machines that have other work too. */
vi.setConfig({ testTimeout: 60_000 })
beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})
async function show(answers: Parameters<typeof startFakeServer>[0] = {}) {
  const server = startFakeServer({ 'GET /folders': () => json({ items: [work] }), ...answers })
  useSessions().keep(tea)
  const router = await routerAt('/')
  render(SessionGroups, { global: { plugins: [i18n, router] } })
  await screen.findByRole('region', { name: 'Work' })
  return { ...server, router }
}

it('says before a folder is deleted that the conversations in it stay', async () => {
  const server = await show({
    'DELETE /folders/w': () => json({ moved_out: 1 }),
    'GET /sessions': () => json({ items: [{ ...tea, folder_id: null }], next_cursor: null }),
  })
  await userEvent.click(screen.getByRole('button', { name: 'Edit folder Work' }))
  expect(((await screen.findByLabelText('Instructions', {}, { timeout: 30_000 })) as HTMLTextAreaElement).value).toBe(
    'Cite sources.',
  )
  await userEvent.click(screen.getByRole('button', { name: 'Delete folder' }))
  expect(screen.getByText('1 conversation is in it. It stays, outside any folder.')).toBeTruthy()
  expect(server.calls.some(({ method }) => method === 'DELETE')).toBe(false)
  await userEvent.click(screen.getByRole('button', { name: 'Delete folder' }))
  await vi.waitFor(() => expect(server.calls.some(({ method }) => method === 'DELETE')).toBe(true))
})

it('moves a conversation out, pins and archives it by its menu', async () => {
  const server = await show({
    'PUT /sessions/s1/folder': () => json({ ...tea, folder_id: null }),
    'PATCH /sessions/s1': ({ body }) => json({ ...tea, ...(body as object) }),
  })
  const choose = async (name: string): Promise<void> => {
    screen.getByRole('button', { name: 'More for Tea' }).focus()
    await userEvent.keyboard('{Enter}')
    await userEvent.click(await screen.findByRole('menuitem', { name }))
  }
  await choose('Pin')
  await screen.findByRole('region', { name: 'Pinned' })
  await choose('Out of the folder')
  await choose('Archive')
  expect(await screen.findByRole('button', { name: 'Show archived' })).toBeTruthy()
  const changes = server.calls.filter(({ method }) => method !== 'GET').map(({ path, body }) => [path, body])
  expect(changes).toEqual([
    ['/sessions/s1', { pinned: true }],
    ['/sessions/s1/folder', { folder_id: null }],
    ['/sessions/s1', { archived: true }],
  ])
})

it('shows a word for what waits, and an icon for each state', async () => {
  startFakeServer({ 'GET /folders': () => json({ items: [] }) })
  useSessions().keep({ ...tea, status: 'waiting' })
  render(SessionGroups, { global: { plugins: [i18n, await routerAt('/')] } })
  const region = screen.getByRole('region', { name: 'Waits for you' })
  expect(region.querySelector('svg')).toBeTruthy()
  expect(region.textContent).toContain('Waiting for you')
})

it('leads to a new conversation in a folder', async () => {
  const { router } = await show()
  await userEvent.click(screen.getByRole('button', { name: 'New conversation in Work' }))
  await vi.waitFor(() => expect(router.currentRoute.value.fullPath).toBe('/?folder=w'))
})

it.each([
  ['stands in its folder', () => json({ ...tea, folder_id: 'w' }), []],
  ['stands outside, where that is gone', () => problem(404, 'folder_not_found'), []],
  ['goes again, where it can’t be put there now', () => problem(503, 'unavailable'), ['s1']],
])('a conversation that begins in a folder %s', async (_, moved, deleted) => {
  const server = startFakeServer({
    'GET /folders': () => json({ items: [] }),
    'PUT /sessions/s1/folder': moved,
    'DELETE /sessions/s1': () => new Response(null, { status: 204 }),
  })
  const begun = useFolders().begin('s1', 'w')
  if (deleted.length > 0) await expect(begun).rejects.toMatchObject({ code: 'unavailable' })
  else await begun
  const calls = server.calls.filter(({ method }) => method === 'DELETE').map(({ path }) => path)
  expect(calls.length).toBe(deleted.length)
})
