// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen, within } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Schedule, Session } from '@/api/types'
import { useSessions } from '@/features/sessions'
import { i18n, setLanguage } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { later } from '@/shared/testing/later'
import { routerAt } from '@/shared/testing/routerAt'
import { ownZone } from './scheduleTimes'
import SchedulesPage from './SchedulesPage.vue'

const missed = { count: 7, first_at: '2026-05-04T10:00:00Z', last_at: '2026-05-04T11:00:00Z', reason: 'late' } as const
const daily: Schedule = {
  id: 'a',
  text: 'What is new?\nIn short.',
  at: null,
  cron: '0 9 * * 1-5',
  timezone: 'Asia/Tokyo',
  session_id: null,
  model: null,
  preset: null,
  options: {},
  paused: false,
  pause_reason: null,
  next_at: '2026-05-05T00:00:00Z',
  missed: null,
  last_run: {
    at: '2026-05-04T12:00:00Z',
    due_at: '2026-05-04T11:00:00Z',
    session_id: 's9',
    run_id: 'r',
    missed,
    status: 'completed',
  },
  created_at: '2026-05-01T00:00:00Z',
}
const once: Schedule = { ...daily, id: 'b', text: 'Once', at: '2026-05-01T09:00:00Z', cron: null, last_run: null }

beforeEach(() => setActivePinia(createPinia()))
afterEach(async () => {
  cleanup()
  vi.unstubAllGlobals()
  await setLanguage('en')
})

async function show(list: () => Schedule[], answers: Parameters<typeof startFakeServer>[0] = {}, path = '/') {
  const presets = () => json([])
  const server = startFakeServer({
    'GET /schedules': () => json({ items: list() }),
    'GET /presets': presets,
    ...answers,
  })
  render(SchedulesPage, { global: { plugins: [i18n, await routerAt(path)] } })
  return server
}
const sent = (server: Awaited<ReturnType<typeof show>>, method: string) =>
  server.calls.filter((one) => one.method === method).map(({ path, body }) => ({ path, body }))

describe('the page of schedules', () => {
  it('makes one by the keyboard alone and gives the focus back', async () => {
    let list: Schedule[] = []
    const server = await show(() => list, {
      'POST /schedules': () => {
        list = [daily]
        return json(daily, 201)
      },
    })
    await screen.findByText(/no schedules yet/)
    screen.getByRole('button', { name: 'New schedule' }).focus()
    await userEvent.keyboard('{Enter}')
    expect(document.activeElement).toBe(screen.getByLabelText('What the agent is told'))
    await userEvent.keyboard('What is new?')
    const where = screen.getByLabelText('Sent to')
    expect(where.hasAttribute('disabled')).toBe(true)
    const hint = document.getElementById(where.getAttribute('aria-describedby') ?? '')
    expect(hint?.textContent).toBe('To have it sent to a conversation, open that first.')
    await userEvent.selectOptions(screen.getByLabelText('Repeats'), 'weekly')
    await userEvent.selectOptions(screen.getByLabelText('Day'), 'Friday')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('The schedule is saved.')).toBeTruthy()
    const body = { text: 'What is new?', cron: '0 9 * * 5', timezone: ownZone(), session_id: null, preset: null }
    expect(sent(server, 'POST')).toEqual([{ path: '/schedules', body }])
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'New schedule' }))
    expect(screen.getByText('What is new?')).toBeTruthy()
  })
  it('sends it to the conversation that is open, where that is chosen', async () => {
    const session = { id: 's1', title: 'Otters', status: 'idle', active_at: '', updated_at: '' } as unknown as Session
    useSessions().keep(session)
    const server = await show(() => [], { 'POST /schedules': () => json(daily, 201) }, '/s/s1')
    await userEvent.click(screen.getByRole('button', { name: 'New schedule' }))
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect((await screen.findByRole('alert')).textContent).toContain('Enter the message')
    await userEvent.type(screen.getByLabelText('What the agent is told'), 'hi')
    await userEvent.selectOptions(screen.getByLabelText('Sent to'), 'This conversation: Otters')
    expect(screen.queryByLabelText('Preset')).toBeNull()
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await screen.findByText('The schedule is saved.')
    expect(sent(server, 'POST')[0]?.body).toMatchObject({ text: 'hi', session_id: 's1' })
  })
  it('shows when each is due, what became of its last message and what was missed', async () => {
    await show(() => [daily, { ...once, next_at: null }])
    const [first, second] = (await screen.findAllByRole('listitem')) as [HTMLElement, HTMLElement]
    expect(first.textContent).toMatch(/Monday to Friday at 09:00 \(Asia\/Tokyo\).*Next: .*last: .*, done/)
    expect(second.textContent).toMatch(/once, .*Done/)
    expect(within(second).queryByRole('button', { name: /Pause/ })).toBeNull()
    await userEvent.click(within(first).getByRole('button', { name: /^What is new\?/ }))
    expect(first.textContent).toMatch(/Missed 7 times, from .* to .*: the server was not running/)
    expect(within(first).getByRole('link', { name: 'Open the last conversation' }).getAttribute('href')).toBe('/s/s9')
  })
  it('says why one was paused, and has it go on from another place', async () => {
    let list = [
      { ...daily, session_id: 'gone', paused: true, pause_reason: 'session_deleted', next_at: null } as Schedule,
    ]
    const server = await show(() => list, {
      'PATCH /schedules/a': () => {
        list = [daily]
        return json(daily)
      },
    })
    expect(await screen.findByText(/its conversation was deleted/)).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Edit What is new?' }))
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await screen.findByText('The schedule is saved.')
    expect(sent(server, 'PATCH')).toEqual([
      { path: '/schedules/a', body: { session_id: null, preset: null, paused: false } },
    ])
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Edit What is new?' }))
  })
  it('says in the page’s language what of a cron line is wrong', async () => {
    const message = 'The hour (2nd field) is wrong: 0 to 23.'
    const errors = [{ field: 'body.cron', message, code: 'cron_hour' }]
    const refused = () => new Response(JSON.stringify({ code: 'invalid', detail: message, errors }), { status: 422 })
    const t = i18n.global.t
    const asks = async () => {
      setActivePinia(createPinia())
      await show(() => [], { 'POST /schedules': refused })
      await userEvent.click(await screen.findByRole('button', { name: t('schedules.add') }))
      await userEvent.type(screen.getByLabelText(t('schedules.message')), 'hi')
      await userEvent.selectOptions(screen.getByLabelText(t('schedules.repeats')), 'cron')
      await userEvent.type(screen.getByLabelText(t('schedules.cron')), '0 24 * * *')
      await userEvent.click(screen.getByRole('button', { name: t('schedules.save') }))
      const alert = await screen.findByRole('alert')
      const cron = screen.getByLabelText(t('schedules.cron'))
      await vi.waitFor(() => expect(document.activeElement).toBe(cron))
      expect(cron.getAttribute('aria-describedby')).toBe(alert.id)
      return alert.textContent
    }
    expect((await asks()).trim()).toBe(message)
    cleanup()
    await setLanguage('zh')
    expect((await asks()).trim()).toMatch(/^第 2 个字段（时）不对/)
  })
  it.each([
    ['en', 'It contains the character NUL: leave it out'],
    ['zh', '填写的内容不符合要求：it contains the character NUL: leave it out'],
  ])('says beside a field what is wrong with it without the server’s name for it (%s)', async (language, said) => {
    await setLanguage(language as 'en' | 'zh')
    const t = i18n.global.t
    const errors = [{ field: 'body.text', message: 'it contains the character NUL: leave it out' }]
    const refused = () => new Response(JSON.stringify({ code: 'invalid', detail: '', errors }), { status: 422 })
    await show(() => [], { 'POST /schedules': refused })
    await userEvent.click(await screen.findByRole('button', { name: t('schedules.add') }))
    await userEvent.type(screen.getByLabelText(t('schedules.message')), 'hi')
    await userEvent.click(screen.getByRole('button', { name: t('schedules.save') }))
    expect((await screen.findByRole('alert')).textContent.trim()).toBe(said)
  })
  it('says how one goes on that was paused with its account', async () => {
    await show(() => [{ ...daily, paused: true, pause_reason: 'account_disabled', next_at: null }])
    expect(await screen.findByText('Paused, as the account was disabled. Resume it to go on.')).toBeTruthy()
    expect(screen.getByRole('button', { name: 'Resume What is new?' })).toBeTruthy()
  })
  it('pauses, runs and deletes one, and says beside it what was refused', async () => {
    let list = [daily]
    const server = await show(() => list, {
      'PATCH /schedules/a': () => {
        list = [{ ...daily, paused: true, next_at: null }]
        return json(list[0])
      },
      'POST /schedules/a/run': () => problem(429, 'too_many_waiting'),
      'DELETE /schedules/a': () => {
        list = []
        return new Response(null, { status: 204 })
      },
    })
    await userEvent.click(await screen.findByRole('button', { name: 'Pause What is new?' }))
    expect(await screen.findByText('The schedule is paused.')).toBeTruthy()
    expect(sent(server, 'PATCH')[0]?.body).toEqual({ paused: true })
    expect(screen.getByRole('button', { name: 'Resume What is new?' })).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: /^What is new\?/ }))
    await userEvent.click(screen.getByRole('button', { name: 'Run now' }))
    expect((await screen.findByRole('alert')).textContent).toContain('Too many messages')
    await userEvent.click(screen.getByRole('button', { name: 'Delete What is new?' }))
    await userEvent.click(screen.getByRole('button', { name: 'Delete schedule' }))
    expect(await screen.findByText('The schedule was deleted.')).toBeTruthy()
    expect(document.activeElement?.textContent).toBe('Schedules')
  })
  it('keeps what was changed also where a look from before comes in late', async () => {
    let list = [daily]
    const late = later<undefined>()
    let looks = 0
    const server = await show(() => list, {
      'GET /schedules': async () => {
        const found = json({ items: list })
        if ((looks += 1) === 2) await late.promise
        return found
      },
      'PATCH /schedules/a': () => {
        list = [{ ...daily, paused: true, next_at: null }]
        return json(list[0])
      },
    })
    await screen.findByRole('button', { name: 'Pause What is new?' })
    useSessions().keep({ id: 's9', status: 'running', active_at: '' } as Session)
    await vi.waitFor(() => expect(sent(server, 'GET').filter(({ path }) => path === '/schedules')).toHaveLength(2))
    await userEvent.click(screen.getByRole('button', { name: 'Pause What is new?' }))
    expect(await screen.findByRole('button', { name: 'Resume What is new?' })).toBeTruthy()
    late.resolve(undefined)
    await new Promise((resolve) => setTimeout(resolve))
    expect(screen.getByRole('button', { name: 'Resume What is new?' })).toBeTruthy()
  })
  it('sends of a change only what was changed', async () => {
    const server = await show(() => [once], { 'PATCH /schedules/b': () => json(once) })
    await userEvent.click(await screen.findByRole('button', { name: 'Edit Once' }))
    const text = screen.getByLabelText('What the agent is told')
    await userEvent.clear(text)
    await userEvent.type(text, 'Twice')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await screen.findByText('The schedule is saved.')
    expect(sent(server, 'PATCH')[0]?.body).toEqual({ text: 'Twice' })
  })
  it('is in Chinese, too', async () => {
    setLanguage('zh')
    await show(() => [daily])
    expect((await screen.findByRole('listitem')).textContent).toMatch(/周一至周五 09:00.*下次：.*上次：/)
  })
})
