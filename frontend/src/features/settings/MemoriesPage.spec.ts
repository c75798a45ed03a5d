// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import MemoriesPage from './MemoriesPage.vue'

const tea = { path: 'likes/tea.md', content: 'Likes green tea', size: 15, etag: 'one' }
const listOf = (...items: object[]) => ({ is_enabled: true, items, size: 15, max_size: 65536, max_file_size: 4096 })

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show(answers: Parameters<typeof startFakeServer>[0]) {
  const server = startFakeServer({
    'GET /memories': () => json(listOf(tea)),
    'GET /memories/likes/tea.md': () => json(tea),
    ...answers,
  })
  render(MemoriesPage, { global: { plugins: [i18n] } })
  return server
}
async function openTea(): Promise<HTMLElement> {
  await userEvent.click(await screen.findByRole('button', { name: /likes\/tea.md/ }))
  return await screen.findByLabelText('Text')
}

describe('the page of what the agent remembers', () => {
  it('says where nothing is remembered, and where nothing can be', async () => {
    show({ 'GET /memories': () => json(listOf()) })
    expect(await screen.findByText('Nothing is remembered yet.')).toBeTruthy()
    cleanup()
    show({ 'GET /memories': () => json({ ...listOf(), is_enabled: false }) })
    expect(await screen.findByText(/This server keeps no memories/)).toBeTruthy()
    expect(screen.queryByRole('button')).toBeNull()
  })
  it('writes what was changed as the version that was read, by keyboard', async () => {
    const server = show({ 'PUT /memories/likes/tea.md': () => json({ ...tea, etag: 'two' }) })
    const text = await openTea()
    await vi.waitFor(() => expect(document.activeElement).toBe(text))
    await userEvent.type(text, ' a lot')
    await userEvent.tab()
    await userEvent.keyboard('{Enter}')
    await vi.waitFor(() => expect(document.activeElement?.getAttribute('data-path')).toBe('likes/tea.md'))
    const put = server.calls.find(({ method }) => method === 'PUT')
    expect(put?.body).toEqual({ content: 'Likes green tea a lot' })
    expect(put?.headers.get('If-Match')).toBe('"one"')
  })
  it('makes a new one without a version', async () => {
    const server = show({ 'PUT /memories/%E8%8C%B6/a%20b%20(1).md': () => json(tea) })
    await userEvent.click(await screen.findByRole('button', { name: 'New memory' }))
    await userEvent.type(await screen.findByLabelText('Name'), '茶/a b (1).md')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await screen.findByRole('button', { name: 'New memory' })
    const put = server.calls.find(({ method }) => method === 'PUT')
    expect(put?.headers.get('If-Match')).toBeNull()
  })
  it.each(['../../logout', 'likes/./tea.md', '<b>y', 'a /b', 'a//b', 'a/b/c/d/e/f'])(
    'refuses the name %s by the rule that it tells',
    async (name) => {
      const server = show({})
      await userEvent.click(await screen.findByRole('button', { name: 'New memory' }))
      await userEvent.type(await screen.findByLabelText('Name'), name)
      const rule = screen.getByText(/^At most 120 letters, digits, spaces and any of @ \+ \( \)/)
      expect(screen.queryByRole('alert')).toBeNull()
      await userEvent.click(screen.getByRole('button', { name: 'Save' }))
      expect(screen.getByRole('alert')).toBe(rule)
      expect(document.activeElement).toBe(screen.getByLabelText('Name'))
      await userEvent.type(screen.getByLabelText('Name'), '!')
      expect(screen.queryByRole('alert')).toBeNull()
      expect(server.calls.filter(({ method }) => method !== 'GET')).toEqual([])
    },
  )
  it('shows what somebody else made of it, and keeps mine only when told so', async () => {
    let now = tea
    const { calls } = show({
      'GET /memories/likes/tea.md': () => json(now),
      'PUT /memories/likes/tea.md': ({ headers }) =>
        headers.get('If-Match') === '"theirs"' ? json(tea) : problem(412, 'memory_changed', 'Changed.'),
    })
    const text = await openTea()
    await userEvent.type(text, '!')
    now = { ...tea, content: 'Likes coffee', etag: 'theirs' }
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect((await screen.findByRole('alert')).textContent).toContain('Likes coffee')
    expect((text as HTMLTextAreaElement).value).toBe('Likes green tea!')
    await userEvent.click(screen.getByRole('button', { name: 'Keep mine' }))
    await vi.waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
    const puts = calls.filter(({ method }) => method === 'PUT')
    expect(puts.map(({ headers }) => headers.get('If-Match'))).toEqual(['"one"', '"theirs"'])
  })
  it('deletes as it was read, after one more question', async () => {
    const server = show({ 'DELETE /memories/likes/tea.md': () => new Response(null, { status: 204 }) })
    await openTea()
    await userEvent.click(screen.getByRole('button', { name: 'Delete' }))
    expect(server.calls.some(({ method }) => method === 'DELETE')).toBe(false)
    await userEvent.click(screen.getByRole('button', { name: 'Delete for good' }))
    await vi.waitFor(() => expect(screen.queryByRole('form')).toBeNull())
    const gone = server.calls.find(({ method }) => method === 'DELETE')
    expect(gone?.headers.get('If-Match')).toBe('"one"')
  })
  it('saves nothing that is too long, and says how long it is', async () => {
    const server = show({ 'GET /memories': () => json({ ...listOf(tea), max_file_size: 16 }) })
    await userEvent.type(await openTea(), '喝茶')
    expect(screen.getByText(/21 bytes, 16 at most/)).toBeTruthy()
    expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true)
    expect(server.calls.some(({ method }) => method === 'PUT')).toBe(false)
  })
})
