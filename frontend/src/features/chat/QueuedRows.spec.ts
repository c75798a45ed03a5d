// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, fireEvent, render, screen, within } from '@testing-library/vue'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { MessageQueue, QueuedMessage } from '@/api/types'
import { i18n } from '@/i18n'
import { later } from '@/shared/testing/later'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { LATER_MS } from './outbox'
import QueuedRows from './QueuedRows.vue'

const item = (id: string, version = 1, text = id): QueuedMessage => ({
  ...{ id, text, version, attachments: [], position: 0, added_at: '', edited_at: null, problem: null },
})
let queue: MessageQueue
let refusal: Response | null
let answered: Promise<unknown> | null
let calls: ReturnType<typeof startFakeServer>['calls']
const without = (id: string): void => void (queue = { ...queue, items: queue.items.filter((one) => one.id !== id) })

beforeEach(() => {
  queue = { items: ['one', 'two', 'three'].map((id) => item(id)), held: null }
  refusal = answered = null
  ;({ calls } = startFakeServer({
    'GET /sessions/s/queue': () => json(queue),
    'POST /sessions/s/queue/order': async (request) => {
      await answered
      if (refusal) return refusal
      const { ids } = request.body as { ids: string[] }
      queue = { ...queue, items: ids.map((id) => item(id)) }
      return json(queue)
    },
    'PATCH /sessions/s/queue/two': (request) => {
      if (refusal) return refusal
      const { text, version } = request.body as { text: string; version: number }
      queue = { ...queue, items: queue.items.map((one) => (one.id === 'two' ? item('two', version + 1, text) : one)) }
      return json(queue)
    },
    'POST /sessions/s/queue/two/send': () => {
      without('two')
      return json({ message_id: 'm', run_id: 'r', seq: 2, duplicate: false }, 202)
    },
    'DELETE /sessions/s/queue/one': () => {
      without('one')
      return new Response(null, { status: 204 })
    },
  }))
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

async function show() {
  const shown = render(QueuedRows, {
    props: { sessionId: 's', seq: 1, isRunning: true },
    global: { plugins: [i18n] },
  })
  await screen.findByRole('list')
  return shown
}
const rows = (): string[] => screen.getAllByRole('listitem').map((one) => one.querySelector('p')?.textContent ?? '')
const button = (name: string): HTMLElement => screen.getByRole('button', { name })

it('is read once the server is there again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const away = [problem(503, 'unavailable'), problem(503, 'unavailable')]
    startFakeServer({ 'GET /sessions/s/queue': () => away.shift() ?? json(queue) })
    render(QueuedRows, { props: { sessionId: 's', seq: 1, isRunning: true }, global: { plugins: [i18n] } })
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect(screen.queryAllByRole('listitem')).toEqual([])
    await vi.advanceTimersByTimeAsync(LATER_MS)
    expect([rows(), screen.queryByRole('alert')]).toEqual([['one', 'two', 'three'], null])
  } finally {
    vi.useRealTimers()
  }
})

it('moves a row by its buttons, which keep the focus', async () => {
  await show()
  await userEvent.click(button('Move “three” up'))
  await vi.waitFor(() => expect(rows()).toEqual(['one', 'three', 'two']))
  expect(document.activeElement).toBe(button('Move “three” up'))
  expect(button('Move “one” up').hasAttribute('disabled')).toBe(true)
  expect(button('Move “two” down').hasAttribute('disabled')).toBe(true)
})
/** Rows of 40 px each, from the top of the page. */
function laidOut(): HTMLElement {
  const list = screen.getByRole('list')
  list.setPointerCapture = () => undefined
  list.getBoundingClientRect = () => new DOMRect(0, 0, 300, 400)
  for (const row of screen.getAllByRole('listitem'))
    row.getBoundingClientRect = () => new DOMRect(0, 40 * [...list.children].indexOf(row), 300, 40)
  return list
}
const handle = (text: string): HTMLElement =>
  screen.getByText(text).closest('li')?.querySelector<HTMLElement>('[data-drag]') as HTMLElement
async function dragTo(text: string, y: number, pointerType = 'mouse'): Promise<HTMLElement> {
  const list = laidOut()
  const at = { pointerId: 7, pointerType, button: 0, bubbles: true, cancelable: true }
  await fireEvent(handle(text), new PointerEvent('pointerdown', { ...at, clientY: 20 }))
  await fireEvent(list, new PointerEvent('pointermove', { ...at, clientY: y }))
  return list
}
const letGo = (list: HTMLElement) => fireEvent(list, new PointerEvent('pointerup', { pointerId: 7, bubbles: true }))

it.each(['mouse', 'touch'])('drags a row to another place, which it has at once: %s', async (pointerType) => {
  const answer = later<undefined>()
  answered = answer.promise
  await show()
  const list = await dragTo('one', 75, pointerType)
  expect(rows()).toEqual(['two', 'one', 'three'])
  expect(calls.filter(({ method }) => method === 'POST')).toEqual([])
  await letGo(list)
  expect(rows()).toEqual(['two', 'one', 'three'])
  answer.resolve(undefined)
  expect(await screen.findByText('Now number 2 of 3')).toBeTruthy()
  expect(calls.filter(({ method }) => method === 'POST')).toMatchObject([{ body: { ids: ['two', 'one', 'three'] } }])
  expect(rows()).toEqual(['two', 'one', 'three'])
})
it('puts a dragged row back and says why where others wait by now', async () => {
  await show()
  const list = await dragTo('one', 115)
  refusal = problem(409, 'queue_changed')
  queue = { ...queue, items: [item('one'), item('three')] }
  await letGo(list)
  expect(await screen.findByRole('alert')).toBeTruthy()
  await vi.waitFor(() => expect(rows()).toEqual(['one', 'three']))
})
it('leaves a dragged row where it was by Escape, and where it is let go in its place', async () => {
  await show()
  const list = await dragTo('one', 115)
  expect(rows()).toEqual(['two', 'three', 'one'])
  await fireEvent.keyDown(document.body, { key: 'Escape' })
  expect(rows()).toEqual(['one', 'two', 'three'])
  await letGo(list)
  await letGo(await dragTo('one', 21))
  expect(calls.filter(({ method }) => method === 'POST')).toEqual([])
})
it('drags on where one of them is sent meanwhile', async () => {
  const { rerender } = await show()
  const list = await dragTo('one', 115)
  without('two')
  await rerender({ seq: 2 })
  await vi.waitFor(() => expect(rows()).toEqual(['three', 'one']))
  await letGo(list)
  await vi.waitFor(() =>
    expect(calls.find(({ method }) => method === 'POST')).toMatchObject({ body: { ids: ['three', 'one'] } }),
  )
})
it('sends one now and takes one away, and goes on from the row that follows', async () => {
  await show()
  await userEvent.click(button('Send “two” now'))
  await vi.waitFor(() => expect(rows()).toEqual(['one', 'three']))
  expect(document.activeElement).toBe(button('Take “three” away'))
  await userEvent.click(button('Take “one” away'))
  await vi.waitFor(() => expect(rows()).toEqual(['three']))
})
it('edits in place as the version that was read', async () => {
  await show()
  await userEvent.click(button('Edit “two”'))
  const field = screen.getByRole('textbox', { name: 'Text of the queued message' })
  expect(document.activeElement).toBe(field)
  await userEvent.type(field, ' better{Enter}')
  await vi.waitFor(() => expect(rows()).toEqual(['one', 'two better', 'three']))
  expect(calls.find(({ method }) => method === 'PATCH')).toMatchObject({ body: { text: 'two better', version: 1 } })
  await userEvent.click(button('Edit “two better”'))
  await userEvent.keyboard(' no{Escape}')
  expect(rows()).toEqual(['one', 'two better', 'three'])
})
it('keeps what was written where another tab was first, and saves it when it is asked to again', async () => {
  await show()
  await userEvent.click(button('Edit “two”'))
  queue = { ...queue, items: [item('one'), item('two', 2, 'theirs'), item('three')] }
  refusal = problem(409, 'queued_message_changed')
  await userEvent.keyboard(' mine{Enter}')
  expect((await screen.findByRole('alert')).textContent).toContain('“theirs”')
  const field = screen.getByRole<HTMLTextAreaElement>('textbox')
  expect(field.value).toBe('two mine')
  refusal = null
  await userEvent.type(field, '{Enter}')
  await vi.waitFor(() => expect(rows()).toEqual(['one', 'two mine', 'three']))
  expect(calls.findLast(({ method }) => method === 'PATCH')).toMatchObject({ body: { version: 2 } })
})
it('gives back what was being written of one that was sent meanwhile', async () => {
  const { emitted, rerender } = await show()
  await userEvent.click(button('Edit “two”'))
  await userEvent.keyboard(' mine')
  without('two')
  await rerender({ seq: 2 })
  await vi.waitFor(() => expect(emitted()['giveBack']).toEqual([['s', 'two mine']]))
})
it('says why it does not go on, and of a row why it was not sent', async () => {
  queue = { items: [{ ...item('one'), problem: { code: 'invalid', detail: 'No such file.' } }], held: 'stopped' }
  const { rerender } = await show()
  expect(screen.getByRole('region').textContent).toContain('Each is sent once')
  expect(within(screen.getByRole('listitem')).getByRole('alert').textContent).toContain('Not sent: No such file.')
  await rerender({ isRunning: false })
  await vi.waitFor(() => expect(screen.getByRole('region').textContent).toContain('You stopped the agent'))
})
