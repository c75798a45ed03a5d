// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen, within } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick } from 'vue'
import { createMemoryHistory, createRouter, RouterView, useRoute } from 'vue-router'
import { ApiError } from '@/api/problems'
import { useModels, usePresets } from '@/features/settings'
import { i18n } from '@/i18n'
import { json, openFakeStream, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { aPreset } from '@/shared/testing/presets'
import ChatView from './ChatView.vue'
import { useConversation } from './conversation'
import { keepDraft, recallDraft } from './drafts'
import { recallOutbox } from './outbox'

const SESSION = {
  title: '',
  status: 'idle',
  model: null,
  options: {},
  pinned: false,
  archived: false,
  created_at: '',
  updated_at: '',
  active_at: '',
  last_seq: 0,
}
beforeEach(() => localStorage.clear())
afterEach(() => {
  cleanup()
  useConversation().close(true)
  vi.unstubAllGlobals()
})

async function show(sessionId: string | null, status = 404) {
  const pinia = createPinia()
  setActivePinia(pinia)
  startFakeServer({
    'GET /sessions/s/state': () => problem(status, 'told'),
    'GET /sessions/s/events': () => problem(status, 'told'),
  })
  if (sessionId) await useConversation().open(sessionId)
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: ChatView }] })
  render(ChatView, { props: { sessionId }, global: { plugins: [i18n, pinia, router] } })
}
const field = (): HTMLElement | null => screen.queryByRole('textbox', { name: 'Message' })

describe('ChatView', () => {
  it('offers to write where a conversation may begin', async () => {
    await show(null)
    expect(field()).not.toBeNull()
  })
  it('keeps what was being written in a conversation that is gone for the next one, and says so', async () => {
    keepDraft(null, null, 'begun')
    keepDraft(null, 's', 'half a thought')
    await show('s')
    expect(screen.getByText('What you were writing is kept for your next conversation.')).toBeTruthy()
    expect([recallDraft(null, null), recallDraft(null, 's')]).toEqual(['begun\n\nhalf a thought', ''])
    cleanup()
    await show('s')
    expect(screen.queryByText(/^What you were writing/)).toBeNull()
  })
  it('says on the start page too that one is offline, and that a first message waits', async () => {
    vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false)
    await show(null)
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')))
    expect(screen.getByText(/^You are offline/)).toBeTruthy()
    await userEvent.type(field()!, 'hello{Enter}')
    expect(await screen.findByText('Will be sent when you are back online.')).toBeTruthy()
    expect(screen.getByText('hello')).toBeTruthy()
    expect(screen.queryByText('The server can’t be reached.')).toBeNull()
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }))
    expect(screen.queryByText('hello')).toBeNull()
    vi.restoreAllMocks()
  })
  it('keeps a first message for the next page until the conversation that it begins has it', async () => {
    await show(null)
    let begin: (answer: Response) => void = () => undefined
    startFakeServer({ 'POST /sessions': () => new Promise((resolve) => (begin = resolve)) })
    await userEvent.type(field()!, 'hello{Enter}')
    const kept = () => recallOutbox({ account: '', sessionId: null }).map(({ text }) => text)
    expect(kept()).toEqual(['hello'])
    begin(problem(400, 'told'))
    await vi.waitFor(() => expect(kept()).toEqual([]))
    expect(recallDraft(null, null)).toBe('hello')
  })
  it('says an example once, however often it is clicked', async () => {
    await show(null)
    const is = {
      is_default: true,
      is_official: true,
      context_window: 1,
      notes: [],
      vision: false,
      thinking: 'optional' as const,
    }
    useModels().list = [{ ...is, id: 'demo', label: 'Demo model', provider: 'demo', is_demo: true }]
    usePresets().list = [aPreset('general', { is_default: true })]
    await nextTick()
    const created = {
      id: 's',
      title: '',
      status: 'idle',
      model: null,
      options: {},
      created_at: '',
      updated_at: '',
      active_at: '',
    }
    const { calls } = startFakeServer({
      'POST /sessions': async () => {
        await new Promise((resolve) => setTimeout(resolve, 100))
        return json({ ...created, pinned: false, archived: false, last_seq: 0 }, 201)
      },
      'GET /sessions/s/events': () => json({ items: [], last_seq: 0, has_more: false }),
      'GET /sessions/s/state': () => json({ session: created, sandbox: null, last_seq: 0 }),
      'POST /sessions/s/messages': () => json({ seq: 1 }, 202),
    })
    await userEvent.dblClick(screen.getByRole('button', { name: /^See it work/ }))
    const said = () => calls.filter(({ path }) => path === '/sessions/s/messages').map(({ body }) => body)
    await vi.waitFor(() => expect(said()).not.toEqual([]))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(said()).toMatchObject([{ text: 'Give me a tour of your computer' }])
  })
  describe('of an empty conversation', () => {
    const demo = {
      id: 'demo',
      label: 'Demo model',
      provider: 'demo',
      is_demo: true,
      is_default: true,
      is_official: true,
      context_window: 1,
      notes: [],
      vision: false,
      thinking: 'optional' as const,
    }
    /** Its options can't be changed, until `isAway` is false. */
    async function showEmpty(server: { isAway: boolean }): Promise<{ said: () => unknown[] }> {
      const pinia = createPinia()
      setActivePinia(pinia)
      useModels().list = [demo]
      usePresets().list = [aPreset('general', { is_default: true })]
      const session = { ...SESSION, id: 's' }
      const { calls } = startFakeServer({
        'GET /sessions/s/state': () => json({ session, sandbox: null, last_seq: 0 }),
        'GET /sessions/s/events': ({ path, signal }) =>
          path.includes('format=json')
            ? json({ items: [], last_seq: 0, has_more: false })
            : openFakeStream(signal).response,
        'PATCH /sessions/s': () => (server.isAway ? problem(503, 'unavailable', 'Not now.') : json(session)),
        'POST /sessions/s/messages': () => json({ message_id: 'm', run_id: 'r', seq: 1, duplicate: false }, 202),
      })
      await useConversation().open('s')
      const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: ChatView }] })
      render(ChatView, { props: { sessionId: 's' }, global: { plugins: [i18n, pinia, router] } })
      return { said: () => calls.filter(({ path }) => path === '/sessions/s/messages') }
    }
    it('says why an example could not begin, which may be tried again', async () => {
      const server = { isAway: true }
      const { said } = await showEmpty(server)
      const example = screen.getByRole('button', { name: /^Decide what it may do/ })
      await userEvent.click(example)
      expect(await screen.findByText(/does not answer/)).toBeTruthy()
      expect(said()).toEqual([])
      server.isAway = false
      await userEvent.click(example)
      await vi.waitFor(() => expect(said()).toHaveLength(1))
    })
    it('shows an option that was refused as it still is', async () => {
      await showEmpty({ isAway: true })
      await userEvent.click(screen.getByRole('button', { name: 'How the agent works here' }))
      const asks = (name: string): HTMLInputElement =>
        within(screen.getByRole('group', { name: 'Ask before changing anything' })).getByRole('radio', { name })
      await userEvent.click(asks('Yes'))
      await vi.waitFor(() => expect(asks('Yes').checked).toBe(false))
      expect(asks('No').checked).toBe(true)
    })
  })
  it('sends all that waited to the conversation that began with it, though another is opened meanwhile', async () => {
    const pinia = createPinia()
    setActivePinia(pinia)
    const got: string[] = []
    let store: () => void = () => undefined
    const held = new Promise<void>((resolve) => (store = resolve))
    const session = (id: string) => ({ ...SESSION, id })
    const of = (id: string): Parameters<typeof startFakeServer>[0] => ({
      [`GET /sessions/${id}/state`]: () => json({ session: session(id), sandbox: null, last_seq: 0 }),
      [`GET /sessions/${id}/events`]: ({ path, signal }) =>
        path.includes('format=json')
          ? json({ items: [], last_seq: 0, has_more: false })
          : openFakeStream(signal).response,
      [`POST /sessions/${id}/messages`]: async ({ body }) => {
        const { text } = body as { text: string }
        got.push(`${id}: ${text}`)
        if (text === 'first') await held
        return json({ message_id: 'm', run_id: 'r', seq: 1, duplicate: false }, 202)
      },
    })
    let isAway = true
    startFakeServer({
      'POST /sessions': () => (isAway ? problem(503, 'unavailable') : json(session('new'), 201)),
      ...of('new'),
      ...of('other'),
    })
    const Page = defineComponent(() => {
      const route = useRoute()
      return () => h(ChatView, { sessionId: (route.params['id'] as string | undefined) ?? null })
    })
    const router = createRouter({
      history: createMemoryHistory(),
      routes: [
        { path: '/', component: Page },
        { path: '/s/:id', component: Page },
      ],
    })
    await router.push('/')
    render(
      defineComponent(() => () => h(RouterView)),
      { global: { plugins: [i18n, pinia, router] } },
    )
    await userEvent.type(field()!, 'first{Enter}')
    await screen.findByText('first')
    await userEvent.type(field()!, 'second{Enter}')
    isAway = false
    window.dispatchEvent(new Event('online'))
    await vi.waitFor(() => expect(got).toEqual(['new: first']))
    await useConversation().open('other')
    await router.push('/s/other')
    store()
    await vi.waitFor(() => expect(got).toHaveLength(2))
    expect(got).toEqual(['new: first', 'new: second'])
    expect(router.currentRoute.value.path).toBe('/s/other')
  })
  it('says that a run was not stopped, and why', async () => {
    await show('s', 500)
    useConversation().stopProblem = new ApiError(500, 'internal', '')
    expect(await screen.findByText(/^The agent was not stopped: Internal server error/)).toBeTruthy()
  })
  it.each([
    [404, 'This conversation is not here'],
    [500, 'The conversation could not be opened'],
  ])('takes no message for a conversation that answered %i', async (status, said) => {
    await show('s', status)
    expect(screen.getByRole('heading').textContent).toBe(said)
    expect(field()).toBeNull()
  })
})
