// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { passFrame } from '@/shared/lib/frames'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import EventsPanel from './EventsPanel.vue'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})
const event = (seq: number | null, type: string, more: object = {}) => ({
  ...{ seq, type, at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' },
  ...more,
})
function show(answers: readonly (() => Response)[]) {
  const left = [...answers]
  startFakeServer({ 'GET /sessions/s/events': () => (left.shift() ?? (() => json({ items: [] })))() })
  return render(EventsPanel, { props: { sessionId: 's' }, global: { plugins: [i18n] } })
}
const types = (): string[] =>
  screen.queryAllByRole('listitem').map((row) => row.textContent.replace(/\d.*$/, '').trim())
const two = () => json({ items: [event(1, 'run.started'), event(2, 'tool.called', { name: 'shell_exec' })] })

describe('EventsPanel', () => {
  it('lists events, and shows one as it came', async () => {
    show([two])
    await userEvent.click(await screen.findByRole('button', { name: /tool\.called/ }))
    expect(screen.getByText(/"name": "shell_exec"/)).toBeTruthy()
  })
  it('shows those alone that have the words', async () => {
    show([two])
    await screen.findByRole('button', { name: /tool\.called/ })
    await userEvent.type(screen.getByRole('searchbox'), 'shell_exec')
    expect(types()).toHaveLength(1)
    expect(screen.getByRole('status').textContent).toBe('1 of 2')
    await userEvent.type(screen.getByRole('searchbox'), 'x')
    expect(screen.getByText('No event has these words.')).toBeTruthy()
    await userEvent.keyboard('{Escape}')
    expect(types()).toHaveLength(2)
  })
  it('adds what streams in, and pieces of text where they are wanted', async () => {
    show([two])
    await screen.findByRole('button', { name: /tool\.called/ })
    passFrame(event(3, 'run.finished'))
    passFrame({ ...event(4, 'run.finished'), session_id: 'another' })
    passFrame(event(null, 'message.delta'))
    await vi.waitFor(() => expect(types()).toHaveLength(3))
    await userEvent.click(screen.getByRole('checkbox'))
    passFrame(event(null, 'message.delta'))
    await vi.waitFor(() => expect(types()).toHaveLength(4))
  })
  it('says why events could not be read, and asks again', async () => {
    show([() => json({ code: 'unavailable', detail: '', status: 503 }, 503), two])
    await userEvent.click(await screen.findByRole('button', { name: 'Try again' }))
    expect(await screen.findByRole('button', { name: /tool\.called/ })).toBeTruthy()
  })
})
