// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { serveProject, withFirst as changed } from '@/shared/testing/writingProject'
import DraftView from './DraftView.vue'
import ProjectView from './ProjectView.vue'

vi.mock('./MarkdownEditor.vue', () => import('@/shared/testing/plainEditor'))

const TEXT = 'One.\n\nTwo.'
const suggestion = {
  ...{ id: 'sug', text: 'One.\n\nTwo, better.', instruction: 'make it better', is_stale: false },
  ...{ author: { kind: 'agent', session_id: 's' }, at: '2026-01-01T00:00:00Z' },
}
const project = changed({ suggestion })
const withFirst = (change: Parameters<typeof changed>[0]) => changed(change, project)
const SUGGESTED = 'Suggested text of “Introduction”'
const OWN = 'Text of “Introduction”'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
  localStorage.clear()
})

const serve = (now = project) =>
  serveProject(now, (change, state) => ({
    'GET /writing/prj_1/revisions': () => json({ items: [], next_cursor: null }),
    'POST /writing/prj_1/sections/s1/suggestion/sug': ({ body }) => change((body as { text: string }).text),
    'DELETE /writing/prj_1/sections/s1/suggestion/sug': () => json((state.now = withFirst({ suggestion: null }))),
  }))
function open(component: typeof ProjectView | typeof DraftView = ProjectView): void {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/:rest(.*)*', component }] })
  render(component, { props: { id: 'prj_1', version: 1 }, global: { plugins: [i18n, router] } })
}
function openAgain(): void {
  cleanup()
  open()
}
const field = (name: string): Promise<HTMLTextAreaElement> => screen.findByLabelText<HTMLTextAreaElement>(name)
const write = async (name: string, text: string): Promise<void> => fireEvent.update(await field(name), text)
const press = async (name: string | RegExp): Promise<void> =>
  userEvent.click(await screen.findByRole('button', { name, hidden: true }))
const kept = (): string[] => Object.keys(localStorage).filter((key) => key.startsWith('writing:'))

describe('a suggestion that the person has changed', () => {
  it('stays so in another section and another view', async () => {
    serve()
    open()
    await write(SUGGESTED, 'One.\n\nTwo, by me.')
    await press('Method')
    await vi.waitFor(() => expect(screen.queryByLabelText(SUGGESTED)).toBeNull())
    await press(/^Introduction/)
    expect((await field(SUGGESTED)).value).toBe('One.\n\nTwo, by me.')
    await press('Versions')
    await press('Write')
    expect((await field(SUGGESTED)).value).toBe('One.\n\nTwo, by me.')
  })
  it('stays so after a reload, until it is accepted', async () => {
    const { server } = serve()
    open()
    await write(SUGGESTED, 'One.\n\nTwo, by me.')
    openAgain()
    expect((await field(SUGGESTED)).value).toBe('One.\n\nTwo, by me.')
    expect(screen.getByText(/You have changed this suggestion/)).toBeTruthy()
    await press('Accept')
    expect(await screen.findByText('Accepted.')).toBeTruthy()
    expect(server.calls.find(({ method }) => method === 'POST')?.body).toEqual({ text: 'One.\n\nTwo, by me.' })
    expect((await field(OWN)).value).toBe('One.\n\nTwo, by me.')
    expect(kept()).toEqual([])
  })
  it.each([
    ['rejected', () => press('Reject')],
    ['taken back', () => press('Take my changes back')],
  ])('is forgotten once it is %s', async (_, end) => {
    serve()
    open()
    await write(SUGGESTED, 'By me.')
    expect(kept()).toEqual(['writing::prj_1:s1:sug'])
    await end()
    await vi.waitFor(() => expect(kept()).toEqual([]))
  })
  it('is forgotten once another one took its place, in the page or before it was opened', async () => {
    const { state } = serve()
    open()
    await write(SUGGESTED, 'By me.')
    state.now = withFirst({ suggestion: { ...suggestion, id: 'next', text: 'Another.' } })
    document.dispatchEvent(new Event('visibilitychange'))
    await vi.waitFor(async () => expect((await field(SUGGESTED)).value).toBe('Another.'))
    expect(kept()).toEqual([])
    await write(SUGGESTED, 'By me again.')
    cleanup()
    state.now = withFirst({ suggestion: { ...suggestion, id: 'last', text: 'The last.' } })
    open()
    expect((await field(SUGGESTED)).value).toBe('The last.')
    expect(kept()).toEqual([])
  })
  it('is what the panel of the draft shows and accepts', async () => {
    const { server } = serve()
    open()
    await write(SUGGESTED, 'One.\n\nTwo, by me.')
    cleanup()
    open(DraftView)
    expect(await screen.findByText('Two, by me.')).toBeTruthy()
    await press('Accept')
    expect(await screen.findByText('Accepted.')).toBeTruthy()
    expect(server.calls.find(({ method }) => method === 'POST')?.body).toEqual({ text: 'One.\n\nTwo, by me.' })
    expect(kept()).toEqual([])
  })
  it('stays where the section was changed meanwhile, and nothing was accepted', async () => {
    const { state } = serve()
    startFakeServer({
      'GET /writing/styles': () => json([]),
      'GET /writing/prj_1': () => json(state.now),
      'POST /writing/prj_1/sections/s1/suggestion/sug': () => {
        state.now = withFirst({ text: 'Theirs.', etag: 'two', suggestion: { ...suggestion, is_stale: true } })
        return problem(412, 'text_changed')
      },
    })
    open()
    await write(SUGGESTED, 'By me.')
    await press('Accept')
    expect(await screen.findByText('The section was changed after this was suggested.')).toBeTruthy()
    expect((await field(SUGGESTED)).value).toBe('By me.')
    expect((await field(OWN)).value).toBe('Theirs.')
  })
})

describe('text that is not saved', () => {
  it('is put together with a suggestion that is accepted', async () => {
    const { server } = serve()
    open()
    await write(OWN, 'One, by hand.\n\nTwo.')
    expect(screen.getByText(/You have text in this section that is not saved/)).toBeTruthy()
    await press('Accept')
    expect(await screen.findByText(/What you had not saved stands in it/)).toBeTruthy()
    expect((await field(OWN)).value).toBe('One, by hand.\n\nTwo, better.')
    await press('Save')
    expect(await screen.findByText('Saved.')).toBeTruthy()
    const put = server.calls.find(({ method }) => method === 'PUT')
    expect([put?.body, put?.headers.get('If-Match')]).toEqual([{ text: 'One, by hand.\n\nTwo, better.' }, '"e2"'])
    expect(kept()).toEqual([])
  })
  it('is shown beside it where both change the same lines, also after a reload', async () => {
    serve()
    open()
    await write(OWN, 'One.\n\nTwo, by hand.')
    await press('Accept')
    expect((await screen.findByRole('alert')).textContent).toMatch(/What you accepted and what you had not saved/)
    expect((await field(OWN)).value).toBe('One.\n\nTwo, by hand.')
    openAgain()
    const changes = within(await screen.findByRole('group', { name: /Somebody else has changed this section/ }))
    expect([changes.getByText('Two, by hand.'), changes.getByText('Two, better.')]).toHaveLength(2)
    await press('Keep mine')
    expect(await screen.findByText('Saved.')).toBeTruthy()
    expect((await field(OWN)).value).toBe('One.\n\nTwo, by hand.')
    expect([screen.queryByRole('alert'), kept()]).toEqual([null, []])
  })
  it('outlives a reload, holds nobody back from leaving, and goes when it is discarded', async () => {
    serve()
    open()
    await write(OWN, 'By hand.')
    expect(window.dispatchEvent(new Event('beforeunload', { cancelable: true }))).toBe(true)
    openAgain()
    expect((await field(OWN)).value).toBe('By hand.')
    await press('Discard changes')
    await press('Discard')
    expect((await field(OWN)).value).toBe(TEXT)
    expect(kept()).toEqual([])
  })
  it('is asked for before it is lost, where the browser has no room for it', async () => {
    serve()
    open()
    const setItem = (): never => {
      throw new DOMException('full', 'QuotaExceededError')
    }
    vi.stubGlobal('localStorage', { setItem, getItem: () => null, removeItem: () => undefined })
    await write(OWN, 'By hand.')
    await press('Method')
    await press(/^Introduction/)
    expect((await field(OWN)).value).toBe('By hand.')
    expect(window.dispatchEvent(new Event('beforeunload', { cancelable: true }))).toBe(false)
  })
  it('is the same in two tabs, and what one of them saves is read by the other', async () => {
    const { state } = serve()
    open()
    await field(OWN)
    const key = 'writing::prj_1:s1'
    const elsewhere = (value: string | null): void => {
      if (value === null) localStorage.removeItem(key)
      else localStorage.setItem(key, value)
      window.dispatchEvent(new StorageEvent('storage', { key, newValue: value }))
    }
    elsewhere(JSON.stringify({ base: { etag: 'one', text: TEXT }, text: 'In the other tab.' }))
    await vi.waitFor(async () => expect((await field(OWN)).value).toBe('In the other tab.'))
    await write(OWN, 'In the other tab. And here.')
    expect(JSON.parse(localStorage.getItem(key) ?? '')).toMatchObject({ text: 'In the other tab. And here.' })
    state.now = withFirst({ text: 'Saved there.', etag: 'two' })
    elsewhere(null)
    await vi.waitFor(async () => expect((await field(OWN)).value).toBe('Saved there.'))
    expect(screen.queryByRole('alert')).toBeNull()
  })
})
