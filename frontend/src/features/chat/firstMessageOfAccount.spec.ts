// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { dropLogIn, keepLogIn } from '@/api/tokens'
import { useAuth } from '@/features/auth'
import { i18n } from '@/i18n'
import { grant, problem, startFakeServer } from '@/shared/testing/fakeServer'
import ChatView from './ChatView.vue'
import { useConversation } from './conversation'

afterEach(() => {
  cleanup()
  useConversation().close(true)
  dropLogIn()
  vi.unstubAllGlobals()
})

it('begins no conversation as somebody who logged in beside who wrote its first message', async () => {
  localStorage.clear()
  keepLogIn(grant('token', 'anna'))
  const pinia = createPinia()
  setActivePinia(pinia)
  useAuth().user = { id: 'anna', username: 'anna', is_admin: false }
  const server = startFakeServer({ 'POST /sessions': () => problem(503, 'unavailable') })
  const begun = () => server.calls.filter(({ path, method }) => method === 'POST' && path === '/sessions').length
  const router = createRouter({ history: createMemoryHistory(), routes: [{ path: '/', component: ChatView }] })
  render(ChatView, { props: { sessionId: null }, global: { plugins: [i18n, pinia, router] } })
  await userEvent.type(screen.getByRole('textbox', { name: 'Message' }), 'private{Enter}')
  await vi.waitFor(() => expect(begun()).toBe(1))
  await screen.findByText('Will be sent when the server can be reached.')
  localStorage.setItem('log-in', JSON.stringify({ user: 'ben' }))
  window.dispatchEvent(new Event('online'))
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(begun()).toBe(1)
  localStorage.setItem('log-in', JSON.stringify({ user: 'anna' }))
  window.dispatchEvent(new Event('online'))
  await vi.waitFor(() => expect(begun()).toBe(2))
})
