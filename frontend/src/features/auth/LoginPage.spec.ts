// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia } from 'pinia'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import { dropLogIn } from '@/api/tokens'
import { i18n } from '@/i18n'
import { grant, json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { themeChoice } from '@/shared/lib/theme'
import LoginPage from './LoginPage.vue'

afterEach(() => {
  cleanup()
  dropLogIn()
  vi.unstubAllGlobals()
})

function show(mode: 'login' | 'register', answer = () => json(grant('now'))) {
  const server = startFakeServer({ 'POST /auth/register': answer, 'POST /auth/login': answer })
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:any(.*)*', component: { render: () => null } }],
  })
  const shown = render(LoginPage, {
    props: { mode, next: '/s/one?x=1' },
    global: { plugins: [i18n, createPinia(), router] },
  })
  return { server, ...shown }
}
const field = (name: string): HTMLElement => screen.getByLabelText(name, { exact: false, selector: 'input' })
const alerts = (): (string | null)[] => screen.queryAllByRole('alert').map((line) => line.textContent)

describe('LoginPage', () => {
  it('has the caret in its first field, also on the way from one to the other', async () => {
    // Looked at while it happens: the testing library moves what is mounted, and so takes the focus away.
    const focused: (string | null)[] = []
    const listen = (event: Event): number => focused.push((event.target as HTMLElement).getAttribute('name'))
    document.addEventListener('focusin', listen)
    const { rerender } = show('login')
    document.removeEventListener('focusin', listen)
    expect(focused).toEqual(['username'])
    field('Password').focus()
    await rerender({ mode: 'register' })
    expect(document.activeElement).toBe(field('User name'))
  })
  it('offers language and theme before there is an account', async () => {
    show('login')
    await userEvent.selectOptions(screen.getByLabelText('Theme'), 'Dark')
    expect(themeChoice.value).toBe('dark')
    await userEvent.selectOptions(screen.getByLabelText('Language'), '中文')
    expect(await screen.findByRole('heading', { name: '登录' })).toBeTruthy()
    await userEvent.selectOptions(screen.getByLabelText('语言'), 'English')
    await userEvent.selectOptions(screen.getByLabelText('Theme'), 'System')
    expect(await screen.findByRole('heading', { name: 'Log in' })).toBeTruthy()
  })
  it('keeps where one wanted to go on the way to the other', () => {
    show('register')
    expect(screen.getByRole('link', { name: 'Log in' }).getAttribute('href')).toBe('/login?next=/s/one?x=1')
  })
  it('tells the rule of a new password, and all that is wrong at once, without asking the server', async () => {
    const { server } = show('register')
    expect(screen.getByText('8 to 256 characters.')).toBeTruthy()
    await userEvent.type(field('User name'), '-')
    await userEvent.type(field('Password'), 'short{Enter}')
    expect(alerts()).toEqual([
      '2 to 32 letters a–z, digits, dots, hyphens or underscores, beginning with a letter or digit.',
      '8 to 256 characters.',
    ])
    expect(document.activeElement).toBe(field('User name'))
    expect(server.calls).toEqual([])
  })
  it('says what it is the way into', () => {
    show('register')
    expect(screen.getByText('Deskmate')).toBeTruthy()
  })
  it('says at the name that it is taken, and has the caret there', async () => {
    show('register', () => problem(409, 'username_taken', 'This user name is taken.'))
    await userEvent.type(field('User name'), 'mei')
    await userEvent.type(field('Password'), 'a long one{Enter}')
    await vi.waitFor(() => expect(alerts()).toEqual(['This user name is taken.']))
    expect(field('User name').getAttribute('aria-describedby')).toBe('problem-username')
    expect(document.activeElement).toBe(field('User name'))
  })
  it.each(['login', 'register'] as const)(
    'shows what is typed as a password to who asks, on the page to %s',
    async (mode) => {
      show(mode)
      await userEvent.type(field('Password'), 'a long one')
      const toggle = screen.getByRole('button', { name: 'Show what is typed' })
      expect([toggle.getAttribute('aria-pressed'), field('Password').getAttribute('type')]).toEqual([
        'false',
        'password',
      ])
      await userEvent.tab()
      expect(document.activeElement).toBe(toggle)
      await userEvent.keyboard(' ')
      expect([toggle.getAttribute('aria-pressed'), field('Password').getAttribute('type')]).toEqual(['true', 'text'])
      expect(field('Password')).toHaveProperty('value', 'a long one')
      await userEvent.click(toggle)
      expect(field('Password').getAttribute('type')).toBe('password')
    },
  )
  it('asks of one who logs in no more than to fill both in', async () => {
    const { server } = show('login', () => problem(401, 'wrong_credentials', 'Not these.'))
    expect(screen.queryByText('8 to 256 characters.')).toBeNull()
    await userEvent.click(screen.getByRole('button', { name: 'Log in' }))
    expect(alerts()).toEqual(['Fill this in.', 'Fill this in.'])
    await userEvent.type(field('User name'), 'x')
    await userEvent.type(field('Password'), 'short{Enter}')
    await vi.waitFor(() => expect(alerts().map((line) => line?.trim())).toEqual(['Not these.']))
    expect(server.calls.at(-1)?.path).toBe('/auth/login')
  })
})
