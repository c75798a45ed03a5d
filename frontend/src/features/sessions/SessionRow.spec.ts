// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { nextTick } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import { ApiError } from '@/api/problems'
import type { Session } from '@/api/types'
import { i18n } from '@/i18n'
import SessionRow from './SessionRow.vue'
import { useSessions } from './store'

beforeEach(() => setActivePinia(createPinia()))
afterEach(cleanup)

it('does not say that an agent works while the server can’t be reached', async () => {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/:a*', component: {} }] })
  const session = { id: 's', title: 'One', status: 'running', unread: 0 } as Session
  render(SessionRow, { props: { session }, global: { plugins: [i18n, router] } })
  expect(screen.getByTitle('Working').querySelector('.spin')).toBeTruthy()
  useSessions().feedTrouble = ApiError.unreachable()
  await nextTick()
  expect(screen.getByTitle('Reconnecting').querySelector('.spin')).toBeNull()
  expect(screen.queryByText('Working')).toBeNull()
})

it('is renamed by the key that ends the title, not by the one that chooses a word of an input method', async () => {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/:a*', component: {} }] })
  const session = { id: 's', title: 'One', status: 'idle', unread: 0 } as Session
  const { emitted } = render(SessionRow, { props: { session }, global: { plugins: [i18n, router] } })
  await fireEvent.keyDown(screen.getByRole('link'), { key: 'F2' })
  const title = screen.getByRole('textbox')
  await fireEvent.update(title, '你好')
  await fireEvent.keyDown(title, { key: 'Enter', isComposing: true })
  await fireEvent.keyDown(title, { key: 'Enter', keyCode: 229 })
  await fireEvent.keyDown(title, { key: 'Escape', isComposing: true })
  expect([screen.queryByRole('textbox'), emitted()['rename']]).toEqual([title, undefined])
  await fireEvent.keyDown(title, { key: 'Enter' })
  expect(emitted()['rename']).toEqual([['你好']])
})

it.each([
  ['running', 0, false, 'Working'],
  ['running', 2, true, 'Working'],
  ['waiting', 1, false, 'Waiting for you'],
  ['idle', 1, true, 'Failed'],
  ['idle', 120, false, '99+ unread'],
  ['idle', 0, true, ''],
  ['idle', 0, false, ''],
] as const)('tells what it is by an icon and a word: %s with %i unread, failed %s', (status, unread, failed, word) => {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/:a*', component: {} }] })
  const session = { id: 's', title: 'One', archived: false, pinned: false, status, unread, failed } as Session
  render(SessionRow, { props: { session }, global: { plugins: [i18n, router] } })
  const row = screen.getByRole('link')
  expect(row.textContent).toBe(`One${word}`)
  expect(row.querySelectorAll('svg')).toHaveLength(word ? 1 : 0)
})
it('has no state while it is on screen, where all of it is read', async () => {
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/s/:id', component: {} }] })
  await router.push('/s/s')
  const session = { id: 's', title: 'One', status: 'idle', unread: 1, failed: true } as Session
  render(SessionRow, { props: { session }, global: { plugins: [i18n, router] } })
  expect(screen.getByRole('link').textContent).toBe('One')
})
