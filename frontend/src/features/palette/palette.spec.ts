// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen, within } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { useSettingsPage } from '@/features/settings'
import { i18n } from '@/i18n'
import { themeChoice } from '@/shared/lib/theme'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { routerAt } from '@/shared/testing/routerAt'
import CommandPalette from './CommandPalette.vue'
import { marked, withoutMarks } from './entries'

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})
const said = {
  ...{ session_id: 's9', title: 'Servers', message_id: 'm4', seq: 4, at: '2026-11-28T10:00:00Z', kind: 'user' },
  snippet: 'the migration of our database',
}
async function show(answers: Parameters<typeof startFakeServer>[0] = {}, sessionId: string | null = null) {
  const server = startFakeServer({
    'GET /search': () => json({ items: [said], next_cursor: null, is_complete: true }),
    ...answers,
  })
  const router = await routerAt('/')
  render(CommandPalette, {
    props: { open: true, sessionId, hasFiles: sessionId !== null },
    global: { plugins: [i18n, router] },
  })
  return { ...server, router, field: await screen.findByRole('combobox') }
}

describe('what is found', () => {
  it('shows where a word was said, and leads to that message', async () => {
    const { field, router } = await show()
    await userEvent.type(field, 'migration')
    const found = await screen.findByRole('option', { name: /our database/ })
    expect(within(found).getByText('migration').tagName).toBe('MARK')
    expect(found.textContent).toContain('Servers')
    await userEvent.keyboard('{Enter}')
    await vi.waitFor(() => expect(router.currentRoute.value.fullPath).toBe('/s/s9#m-m4'))
  })
  it('has actions, by words of both languages, and does them', async () => {
    const { field } = await show({ 'GET /search': () => json({ items: [], next_cursor: null, is_complete: true }) })
    await userEvent.type(field, 'dark')
    await userEvent.click(await screen.findByRole('option', { name: /Dark theme/ }))
    await vi.waitFor(() => expect(themeChoice.value).toBe('dark'))
    themeChoice.value = 'system'
  })
  it('has the pages of the settings', async () => {
    const { field } = await show()
    await userEvent.type(field, 'schedul')
    await userEvent.click(await screen.findByRole('option', { name: /^Schedules/ }))
    await vi.waitFor(() => expect(useSettingsPage().shown).toBe('schedules'))
  })
  it('has the files of the conversation that is open, of folders too', async () => {
    const file = (path: string, isDir = false) => ({ path, name: path.split('/').at(-1), size: 1, is_dir: isDir })
    const { field, calls } = await show(
      {
        'GET /sessions/s1/files?path=': () => json([file('src', true), file('node_modules', true), file('a.txt')]),
        'GET /sessions/s1/files?path=src': () => json([file('src/tables.py')]),
      },
      's1',
    )
    await userEvent.type(field, 'tables')
    expect(await screen.findByRole('option', { name: /tables\.py.*src\/tables\.py/ })).toBeTruthy()
    expect(calls.filter(({ path }) => path.includes('node_modules'))).toEqual([])
  })
  it('says that there is nothing, that older messages are still indexed, and what went wrong', async () => {
    let answer = () => json({ items: [], next_cursor: null, is_complete: false })
    const { field } = await show({ 'GET /search': () => answer() })
    await userEvent.type(field, 'zzz')
    expect(await screen.findByText('Nothing found.')).toBeTruthy()
    expect(await screen.findByText(/Older messages are being indexed/)).toBeTruthy()
    answer = () => problem(503, 'store_unavailable')
    await userEvent.type(field, 'z')
    expect(await screen.findByText(/The database does not answer/)).toBeTruthy()
  })
  it('asks for no more than the server looks for, and for nothing where nothing is written', async () => {
    const { field, calls } = await show()
    field.focus()
    await userEvent.paste('word77 '.repeat(5_000))
    await vi.waitFor(() => expect(calls).toHaveLength(1))
    const asked = new URLSearchParams(calls.at(-1)?.path.split('?')[1]).get('q') ?? ''
    expect(asked.length).toBeLessThanOrEqual(2_000)
    await userEvent.clear(field)
    expect(await screen.findByRole('option', { name: 'New conversation' })).toBeTruthy()
    expect(calls).toHaveLength(1)
  })
})

it('marks words as they are written, none of whose characters mean anything else', () => {
  expect(marked('a (b) c', '(B)')).toEqual([
    { text: 'a ', isFound: false },
    { text: '(b)', isFound: true },
    { text: ' c', isFound: false },
  ])
})

it('reads an answer without its Markdown', () => {
  expect(withoutMarks('They are done: **list the files** > These are: > > ``` > [one.txt](one.txt) > ``` end.')).toBe(
    'They are done: list the files These are: one.txt end.',
  )
  expect(withoutMarks('…*as said* it is `a*b` ```sh ls -la``` and 2 * 3 > 5')).toBe(
    '…as said it is a*b ls -la and 2 * 3 > 5',
  )
})
