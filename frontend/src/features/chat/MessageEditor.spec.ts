// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { laterTexts } from '@/shared/lib/laterTexts'
import { json, openFakeStream, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { later } from '@/shared/testing/later'
import { useBranches } from './branches'
import { useConversation } from './conversation'
import MessageEditor from './MessageEditor.vue'

const snapshot = (id: string, at: string) => ({
  ...{ id, name: `Before ${id}`, created_at: `2026-01-01T${at}:00Z`, bytes: 1, content_bytes: 1, files: 1 },
})
let kept: object[]
let answer: () => Response | Promise<Response>
let asked: () => string[]

beforeEach(async () => {
  localStorage.clear()
  await laterTexts()
  kept = [snapshot('early', '09:00'), snapshot('last', '11:59'), snapshot('after', '12:01')]
  answer = () => json(kept[1])
  const { calls } = startFakeServer({
    'GET /sessions/s/snapshots': () => json({ items: kept, max_count: 5 }),
    'POST /sessions/s/snapshots/last/restore': () => answer(),
    'POST /sessions/s/messages/u/edit': () => json({ message_id: 'v', run_id: 'r', seq: 6, duplicate: false }),
    'GET /sessions/s/state': () => json({ session: { id: 's', title: '' }, sandbox: null, last_seq: 0 }),
    'GET /sessions/s/events': ({ path, signal }) =>
      path.includes('format=json')
        ? json({ items: [], last_seq: 0, has_more: false })
        : openFakeStream(signal).response,
    'GET /sessions/s/branches': () => json({ items: [] }),
  })
  asked = () => calls.filter(({ method }) => method === 'POST').map(({ path }) => path)
})
afterEach(() => {
  cleanup()
  useConversation().close(true)
  vi.unstubAllGlobals()
})

async function show(): Promise<void> {
  const pinia = createPinia()
  setActivePinia(pinia)
  await useConversation().open('s')
  const item = { kind: 'user', key: '1', messageId: 'u', text: 'go', attachments: [], at: '2026-01-01T12:00:00Z' }
  render(MessageEditor, { props: { item: item as never, sessionId: 's' }, global: { plugins: [i18n, pinia] } })
}
const offer = () => screen.findByRole('button', { name: 'Restore' })
const confirm = () => screen.getByRole('button', { name: 'Restore these files' })
const RESTORE = '/sessions/s/snapshots/last/restore'

it('offers the last snapshot from before the message, and brings its files back once that is confirmed', async () => {
  await show()
  expect((await offer()).closest('p')?.textContent).toContain('“Before last” has the files from before this message')
  await userEvent.click(await offer())
  expect(screen.getByText(/What changed since is lost/)).toBeTruthy()
  expect(asked()).toEqual([])
  await userEvent.click(confirm())
  expect(await screen.findByText('The files are back as in “Before last”.')).toBeTruthy()
  expect(asked()).toEqual([RESTORE])
  expect(screen.queryByRole('button', { name: 'Restore' })).toBeNull()
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Your message' }))
})
it.each([[[]], [[snapshot('after', '12:01')]]])('offers none where none is from before it: %#', async (items) => {
  kept = items
  await show()
  await vi.waitFor(() => expect(screen.getByRole('textbox', { name: 'Your message' })).toBeTruthy())
  await new Promise((resolve) => setTimeout(resolve))
  expect(screen.queryByRole('button', { name: 'Restore' })).toBeNull()
})
it('changes nothing where the question is left, and has the focus where it was', async () => {
  await show()
  await userEvent.click(await offer())
  await userEvent.keyboard('{Escape}')
  expect(document.activeElement).toBe(await offer())
  await userEvent.click(await offer())
  await userEvent.click(screen.getAllByRole('button', { name: 'Cancel' })[0] as HTMLElement)
  expect(document.activeElement).toBe(await offer())
  expect(asked()).toEqual([])
})
it('says why it was refused, and offers what is there by then', async () => {
  await show()
  await userEvent.click(await offer())
  answer = () => problem(409, 'session_busy', 'The agent is working on these files. Stop it first, then restore.')
  await userEvent.click(confirm())
  expect((await screen.findByRole('alert')).textContent).toContain('The agent is working on these files.')
  expect(document.activeElement).toBe(await offer())
  kept = [kept[0] as object]
  answer = () => problem(404, 'snapshot_not_found')
  await userEvent.click(await offer())
  await userEvent.click(confirm())
  expect((await offer()).closest('p')?.textContent).toContain('“Before early”')
})
it('begins no run while the files are being brought back', async () => {
  const restoring = later<Response>()
  await show()
  await userEvent.click(await offer())
  answer = () => restoring.promise
  await userEvent.click(confirm())
  expect(screen.getByRole('button', { name: 'Save and run' }).hasAttribute('disabled')).toBe(true)
  await userEvent.type(screen.getByRole('textbox', { name: 'Your message' }), '{Control>}{Enter}{/Control}')
  expect(asked()).toEqual([RESTORE])
  restoring.resolve(json(kept[1]))
  await screen.findByText(/The files are back/)
  await userEvent.click(screen.getByRole('button', { name: 'Save and run' }))
  await vi.waitFor(() => expect(asked()).toEqual([RESTORE, '/sessions/s/messages/u/edit']))
})

it('keeps what is written of each message until it is saved or left, also over a reload', async () => {
  const box = (): HTMLTextAreaElement => screen.getByRole('textbox', { name: 'Your message' })
  await show()
  expect(useBranches().editing).toBeNull()
  await userEvent.type(box(), ' on')
  cleanup()
  await show()
  expect([box().value, useBranches().editing]).toEqual(['go on', 'u'])
  // It was not begun by the person, who may write elsewhere.
  expect(document.activeElement).not.toBe(box())
  await userEvent.click(screen.getByRole('button', { name: 'Cancel' }))
  cleanup()
  await show()
  expect([box().value, useBranches().editing]).toEqual(['go', null])
  await userEvent.type(box(), ' further')
  await userEvent.click(screen.getByRole('button', { name: 'Save' }))
  await vi.waitFor(() => expect(Object.keys(localStorage).filter((key) => key.includes(':edit'))).toEqual([]))
})
