// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import UsagePage from './UsagePage.vue'
import { dayBefore } from './useUsage'

const spent = { runs: 2, input: 1200, cached: 800, output: 30, thinking: 0, cache_write: 0 }
const row = { ...spent, cost: 0.25, known_cost: 0.25, session_id: null, title: null, model: null, day: null }
const answer = {
  since: '',
  until: '',
  timezone: 'UTC',
  next_cursor: null,
  total: { ...spent, cost: null, known_cost: 0.25 },
}

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show(pages: Record<string, object[]>) {
  const asked: URLSearchParams[] = []
  startFakeServer({
    'GET /usage': ({ path }) => {
      const query = new URL(path, 'http://x').searchParams
      asked.push(query)
      const by = query.get('by') ?? ''
      const items = pages[query.get('cursor') ?? by] ?? []
      const next_cursor = by === 'session' && !query.get('cursor') && pages['next'] ? 'next' : null
      return json({ ...answer, by, items, next_cursor })
    },
  })
  render(UsagePage, { global: { plugins: [i18n] } })
  return asked
}

describe('the page of what was used', () => {
  it('says what will be there before anything is', async () => {
    show({})
    expect(await screen.findByText(/Nothing was used in this period/)).toBeTruthy()
    expect(screen.queryByRole('table')).toBeNull()
  })
  it('has a row a day, and what all cost at least where not all of it is known', async () => {
    const asked = show({
      day: [
        { ...row, day: '2026-11-24' },
        { ...row, day: '2026-11-23', cost: null, known_cost: 0 },
      ],
    })
    const rows = within(await screen.findByRole('table')).getAllByRole('row')
    const [head, first, second, total] = rows.map((one) => one.textContent ?? '')
    expect(head).toMatch(/Day.*Tokens sent.*Tokens answered.*Cost/)
    expect(first).toContain('0.25')
    expect(second).toContain('unknown')
    expect(total).toContain('at least 0.25')
    expect(asked[0]?.get('since')).toBe(dayBefore(29))
    expect(asked[0]?.get('until')).toBe(dayBefore(0))
  })
  it('shows conversations by their titles, those deleted together, page by page', async () => {
    show({
      session: [{ ...row, session_id: 's', title: 'Green tea' }],
      next: [{ ...row, session_id: 't', title: '' }, row],
    })
    await userEvent.click(await screen.findByRole('radio', { name: 'Conversation' }))
    expect(await screen.findByText('Green tea')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Show more' }))
    expect(await screen.findByText('Deleted conversations')).toBeTruthy()
    expect(screen.getByText('New conversation')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Show more' })).toBeNull()
  })
  it('asks for the period that is chosen', async () => {
    const asked = show({})
    await userEvent.click(await screen.findByRole('radio', { name: '7 days' }))
    await vi.waitFor(() => expect(asked.at(-1)?.get('since')).toBe(dayBefore(6)))
  })
  it('says why it could not, and tries again', async () => {
    startFakeServer({ 'GET /usage': () => json({ code: 'x', detail: 'Not now.' }, 503) })
    render(UsagePage, { global: { plugins: [i18n] } })
    expect((await screen.findByRole('alert')).textContent).toContain('Not now.')
    startFakeServer({ 'GET /usage': () => json({ ...answer, by: 'day', items: [] }) })
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByText(/Nothing was used/)).toBeTruthy()
  })
})

it('a day before is that of the calendar, also over a month', () => {
  expect(dayBefore(1, new Date(2026, 2, 1, 0, 30))).toBe('2026-02-28')
})
