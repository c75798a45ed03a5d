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
