// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import { json, openFakeStream, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { useConversation } from './conversation'
import { LATER_MS } from './outbox'
import TranscriptView from './TranscriptView.vue'

beforeEach(() => localStorage.clear())
afterEach(() => {
  vi.useRealTimers()
  cleanup()
  useConversation().close(true)
  vi.unstubAllGlobals()
})

const base = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const user = (seq: number, text: string) => ({
  ...base,
  ...{ seq, type: 'message.user', message_id: `u${seq}`, text, attachments: [], client_message_id: null },
})
const answer = (seq: number, text: string) => ({
  ...base,
  ...{ seq, type: 'message.completed', message_id: `a${seq}`, text, turn: 1, partial: false, seen_seq: seq - 1 },
})
const selected = (seq: number) => ({
  ...base,
  ...{ seq, type: 'path.selected', path: [], cause: 'edit', message_id: 'u1' },
})
const way = (id: string, messages: number, shown: boolean) => ({ message_id: id, messages, is_shown: shown })

interface Told {
  items?: readonly object[]
  forks?: readonly object[]
  since?: number
  /** Answers of a server that is away: the first to the branches, the second to an edit. */
  away?: readonly [Response, Response]
  /** A message that the agent has read by the time that it is taken back. */
  readAlready?: string
  /** What happens to the answers of what is asked for again, one after the other; then each comes. */
  lost?: ((tell: (event: object) => void) => Response)[]
}
async function show({ items = [], forks = [], since = 0, away, lost = [], readAlready }: Told) {
  const told: ((event: object) => void)[] = []
  let name: unknown = null
  const orLost =
    (answer: () => Response) =>
    ({ body }: { body: unknown }) => {
      name = (body as Record<string, unknown>)['client_request_id']
      return lost.shift()?.((event) => told.forEach((tell) => tell(event))) ?? answer()
    }
  const first = { branches: away?.[0], edit: away?.[1] }
  const take = (name: keyof typeof first, then: Response): Response => {
    const answer = first[name] ?? then
    first[name] = undefined
    return answer
  }
  const pinia = createPinia()
  setActivePinia(pinia)
  const { calls } = startFakeServer({
    'GET /sessions/s/state': () => json({ session: { id: 's', title: '' }, sandbox: null, last_seq: 9 }),
    'GET /sessions/s/events': ({ path, signal }) => {
      if (path.includes('format=json'))
        return json({ items, last_seq: 9, has_more: false, path: since ? [] : null, path_since: since })
      const stream = openFakeStream(signal)
      told.push((event) => stream.send(`data: ${JSON.stringify({ ...event, client_request_id: name })}\n\n`))
      return stream.response
    },
    'GET /sessions/s/branches': () => take('branches', json({ items: forks })),
    'GET /sessions/s/snapshots': () => json({ items: [], max_count: 5 }),
    'PUT /sessions/s/path': () => json({ changed: true }),
    'POST /sessions/s/messages/u1/edit': () => json({ message_id: 'u6', run_id: 'r', seq: 6, duplicate: false }),
    'POST /sessions/s/messages/u5/edit': () =>
      take('edit', json({ message_id: 'u6', run_id: 'r', seq: 6, duplicate: false })),
    'POST /sessions/s/messages/u1/undo': orLost(() => json({ text: 'one', attachments: [] })),
    'POST /sessions/s/messages/a2/regenerate': orLost(() =>
      json({ message_id: 'u1', run_id: 'r', seq: 1, duplicate: true }, 202),
    ),
    'POST /sessions/s/branch': orLost(() => json({ id: 'other', title: '' }, 201)),
    'DELETE /sessions/s/messages/u4': () => new Response(null, { status: 204 }),
    [`DELETE /sessions/s/messages/${readAlready}`]: () => problem(409, 'message_read', 'It was read.'),
    'DELETE /sessions/s/branches/u1': () => json({ messages: 2 }),
  })
  await useConversation().open('s')
  const routes = [{ path: '/:all(.*)', component: { template: '<p />' } }]
  const router = createRouter({ history: createMemoryHistory(), routes })
  const { emitted } = render(TranscriptView, { props: { sessionId: 's' }, global: { plugins: [i18n, pinia, router] } })
  const tell = (event: object): void => told.forEach((one) => one(event))
  return { asked: () => calls.filter(({ method }) => method !== 'GET'), emitted, tell }
}
const button = (name: string) => screen.findByRole('button', { name })

it('leads to the way beside the one that is shown', async () => {
  const forks = [{ after_message_id: null, children: [way('u1', 2, false), way('u5', 2, true)] }]
  const { asked } = await show({ items: [selected(4), user(5, 'better'), answer(6, 'yes')], forks, since: 4 })
  expect(await screen.findByText('2/2')).toBeTruthy()
  expect((await button('The next way')).hasAttribute('disabled')).toBe(true)
  await fireEvent.click(await button('The way before'))
  expect(asked()).toMatchObject([{ body: { message_id: 'u1' } }])
})

it('takes back what the agent reads next, gives its words back, and keeps it with the reason where it was read', async () => {
  const started = { ...base, seq: 2, type: 'run.started', model: 'x', message_id: 'u1', worker: 'w', attempt: 1 }
  const called = { ...base, seq: 3, type: 'tool.called', call_id: 'c', name: 'shell', arguments: {}, phrase: '' }
  const items = [user(1, 'one'), started, { ...called, seen_seq: 1 }, user(4, 'and hurry'), user(5, 'no, wait')]
  const { asked, emitted, tell } = await show({ items, readAlready: 'u5' })
  const [first, second] = await screen.findAllByRole('button', { name: 'Take it back' })
  await fireEvent.click(second!)
  expect(await screen.findByText('It was read.')).toBeTruthy()
  expect(screen.getByText('no, wait')).toBeTruthy()
  expect(emitted('giveBack')).toBeUndefined()
  await fireEvent.click(first!)
  await vi.waitFor(() => expect(emitted('giveBack')).toEqual([['and hurry']]))
  expect(asked().map(({ method }) => method)).toEqual(['DELETE', 'DELETE'])
  tell({ ...base, seq: 6, type: 'message.withdrawn', message_id: 'u4', at_seq: 4 })
  await vi.waitFor(() => expect(screen.queryByText('and hurry')).toBeNull())
  expect(screen.getByText('no, wait')).toBeTruthy()
})

it('says with what each branch begins, in view', async () => {
  const seen = vi.spyOn(HTMLElement.prototype, 'scrollIntoView').mockReturnValue(undefined)
  const other = { ...way('u1', 2, false), begins: 'Make tea' }
  const forks = [{ after_message_id: null, children: [other, way('u5', 2, true)] }]
  await show({ items: [selected(4), user(5, 'better'), answer(6, 'yes')], forks, since: 4 })
  await fireEvent.click(await button('2 messages on other branches'))
  const [line] = screen.getByRole('list', { name: 'Other branches' }).children
  expect(line?.textContent).toMatch(/^Make tea.*Branch 1: 2 messages/)
  await vi.waitFor(() => expect(seen.mock.contexts.some((part) => (part as Element).contains(line!))).toBe(true))
})

it('deletes a branch with the number of messages that it says', async () => {
  const forks = [{ after_message_id: null, children: [way('u1', 2, false), way('u5', 2, true)] }]
  const { asked } = await show({ items: [selected(4), user(5, 'better'), answer(6, 'yes')], forks, since: 4 })
  await fireEvent.click(await button('2 messages on other branches'))
  await fireEvent.click(await button('Delete branch 1'))
  expect(screen.getByText(/with its 2 messages\?/)).toBeTruthy()
  await fireEvent.click(await button('Delete branch'))
  expect(asked().map(({ path }) => path)).toEqual([expect.stringContaining('messages=2')])
})

it('reads the branches once the server is there again, and edits under the same id where no answer came', async () => {
  const away = [problem(503, 'unavailable'), problem(503, 'unavailable')] as const
  const forks = [{ after_message_id: null, children: [way('u1', 2, false), way('u5', 2, true)] }]
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { asked } = await show({ items: [selected(4), user(5, 'better'), answer(6, 'yes')], forks, since: 4, away })
  await vi.advanceTimersByTimeAsync(LATER_MS)
  vi.useRealTimers()
  expect(await screen.findByText('2/2')).toBeTruthy()
  await fireEvent.click(await button('Edit'))
  await fireEvent.update(await screen.findByRole('textbox', { name: 'Your message' }), 'best')
  await fireEvent.click(await button('Save and run'))
  await screen.findByRole('alert')
  await fireEvent.click(await button('Save and run'))
  await vi.waitFor(() => expect(asked()).toHaveLength(2))
  const [first, second] = asked().map(({ body }) => body)
  expect(second).toEqual(first)
})

const cut = (): Response => problem(503, 'unavailable')

it.each([
  ['Answer again', 'regenerate'],
  ['Undo from here', 'undo'],
  ['Branch into a new conversation', 'branch'],
])('asks again under the same name where no answer came, and once where it is pressed twice: %s', async (name, way) => {
  const { asked } = await show({ items: [user(1, 'one'), answer(2, 'first')], lost: [cut] })
  const press = (await screen.findAllByRole('button', { name })).at(-1) as HTMLElement
  await Promise.all([fireEvent.click(press), fireEvent.click(press)])
  await screen.findByRole('alert')
  expect(asked()).toHaveLength(1)
  await fireEvent.click(press)
  await vi.waitFor(() => expect(asked()).toHaveLength(2))
  await vi.waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
  const [first, second] = asked()
  expect(first).toMatchObject({ path: expect.stringContaining(way), body: { client_request_id: expect.any(String) } })
  expect(second).toMatchObject({ path: first?.path, body: first?.body as object })
})

it('gets what is undone though the answer was lost, once the stream tells that it was done', async () => {
  const lost = [
    (tell: (event: object) => void) => {
      tell(selected(10))
      return cut()
    },
  ]
  const { asked, emitted } = await show({ items: [user(1, 'one'), answer(2, 'first')], lost })
  await fireEvent.click(await button('Undo from here'))
  await vi.waitFor(() => expect(emitted()['giveBack']).toEqual([['one']]))
  expect(asked().map(({ body }) => body)).toEqual([asked()[0]?.body, asked()[0]?.body])
})

it('means another one, and has another name, once the effect of the lost one is shown', async () => {
  let tell: (event: object) => void = () => undefined
  const lost = [
    (send: (event: object) => void) => {
      tell = send
      return cut()
    },
  ]
  const { asked } = await show({ items: [user(1, 'one'), answer(2, 'first')], lost })
  await fireEvent.click(await button('Answer again'))
  await screen.findByRole('alert')
  tell(selected(10))
  await vi.waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
  await fireEvent.click(await button('Answer again'))
  await vi.waitFor(() => expect(asked()).toHaveLength(2))
  expect(asked()[1]?.body).not.toEqual(asked()[0]?.body)
})

it('saves a message without running it, and gives back what is undone', async () => {
  const { asked, emitted } = await show({ items: [user(1, 'one'), answer(2, 'first')] })
  await fireEvent.click(await button('Edit'))
  await fireEvent.update(await screen.findByRole('textbox', { name: 'Your message' }), 'uno')
  await fireEvent.click(await button('Save'))
  expect(asked().at(-1)).toMatchObject({ body: { text: 'uno', run: false } })
  await fireEvent.click(await button('Undo from here'))
  await vi.waitFor(() => expect(emitted()['giveBack']).toEqual([['one']]))
})

it('has the actions of a turn below its last answer, and says what to do first while it runs', async () => {
  const started = { ...base, seq: 4, type: 'run.started', model: 'x', message_id: 'u3', worker: 'w', attempt: 1 }
  await show({ items: [user(1, 'one'), answer(2, 'first'), user(3, 'two'), started, answer(5, 'half')] })
  expect(await screen.findAllByRole('button', { name: 'Copy' })).toHaveLength(3)
  const edits = screen.getAllByRole('button', { name: 'Edit: stop the agent first' })
  expect(edits.every((one) => one.hasAttribute('disabled'))).toBe(true)
})
