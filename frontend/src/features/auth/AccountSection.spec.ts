// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { dropLogIn } from '@/api/tokens'
import { i18n } from '@/i18n'
import { grant, json, startFakeServer } from '@/shared/testing/fakeServer'
import AccountSection from './AccountSection.vue'
import { useAuth } from './store'

afterEach(() => {
  cleanup()
  dropLogIn()
  vi.unstubAllGlobals()
})

async function show(mode: 'local' | 'password') {
  const pinia = createPinia()
  setActivePinia(pinia)
  startFakeServer({
    'GET /auth/status': () => json({ mode, has_users: true, registration_open: true, max_upload_bytes: 10 }),
    'GET /auth/me': () => json({ id: 'u', username: 'local', is_admin: false }),
    'POST /auth/login': () => json(grant('now', 'mei')),
    'POST /auth/logout': () => json({}),
    'POST /auth/logout-all': () => json({}),
  })
  await useAuth().start()
  if (mode === 'password') await useAuth().logIn({ username: 'mei', password: 'a long one' })
  return render(AccountSection, { global: { plugins: [i18n, pinia] } })
}

describe('AccountSection', () => {
  it('names nobody where nobody logs in', async () => {
    const { container } = await show('local')
    expect(container.textContent).toBe('')
  })
  it('names who has logged in', async () => {
    await show('password')
    expect(screen.getByText('Logged in as mei')).toBeTruthy()
  })
  it.each(['Log out', 'Log out everywhere'])('keeps nothing of what was being written after "%s"', async (name) => {
    await show('password')
    localStorage.setItem('draft:u:new', 'a secret plan')
    localStorage.setItem('answer:q1', '{"chosen":{},"written":{"q":"mine"}}')
    localStorage.setItem('rail', 'collapsed')
    screen.getByRole('button', { name }).click()
    await vi.waitFor(() => expect(useAuth().isSignedIn).toBe(false))
    expect(Object.keys(localStorage)).toEqual(['rail'])
  })
  it.each(['Log out', 'Log out everywhere'])('asks before "%s" discards what waits to be sent', async (name) => {
    await show('password')
    localStorage.clear()
    const me = useAuth().user!.id
    localStorage.setItem(`outbox:${me}:s`, '[{"clientMessageId":"1","text":"private"}]')
    localStorage.setItem(`outbox:${me}:new`, '[{"clientMessageId":"2","text":"private"}]')
    localStorage.setItem(`writing:${me}:prj_1:s1`, '{"base":{"etag":"one","text":"One."},"text":"private"}')
    localStorage.setItem(`stop:${me}:s`, 'run')
    localStorage.setItem('stop:other:s', 'run')
    localStorage.setItem('writing:other:prj_2:s1', '{}')
    localStorage.setItem('outbox:other:s', '[{"clientMessageId":"3","text":"theirs"}]')
    const press = (button: string) => screen.getByRole('button', { name: button }).click()
    press(name)
    await screen.findByText(
      '2 messages have not been sent yet. Logging out discards them. 1 text in Writing is not saved. Logging out discards it.',
    )
    press('Cancel')
    await vi.waitFor(() => expect(document.activeElement?.textContent).toBe(name))
    expect(localStorage.getItem(`outbox:${me}:s`)).not.toBeNull()
    expect(localStorage.getItem(`writing:${me}:prj_1:s1`)).not.toBeNull()
    press(name)
    await screen.findByText(/Logging out discards them/)
    press(`${name} and discard`)
    await vi.waitFor(() => expect(useAuth().isSignedIn).toBe(false))
    expect(Object.keys(localStorage).toSorted()).toEqual(['outbox:other:s', 'stop:other:s', 'writing:other:prj_2:s1'])
  })
})
