// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia } from 'pinia'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { dropLogIn, keepLogIn, readAccess } from '@/api/tokens'
import { grant, json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import PasswordForm from './PasswordForm.vue'

afterEach(() => {
  cleanup()
  dropLogIn()
  vi.unstubAllGlobals()
})

function show(answer: () => Response) {
  keepLogIn(grant('now'))
  const server = startFakeServer({ 'POST /auth/password': answer })
  return { server, ...render(PasswordForm, { global: { plugins: [i18n, createPinia()] } }) }
}
const field = (name: string): HTMLElement => screen.getByLabelText(name, { exact: false, selector: 'input' })

async function fill(old: string, next: string, again = next): Promise<void> {
  if (old) await userEvent.type(field('Current password'), old)
  const [first, second] = screen.getAllByLabelText(/^New password/)
  if (next) await userEvent.type(first!, next)
  if (again) await userEvent.type(second!, again)
  await userEvent.click(screen.getByRole('button', { name: 'Change password' }))
}

describe('PasswordForm', () => {
  it('changes the password and goes on under the new log-in', async () => {
    const { server, emitted } = show(() => json(grant('after')))
    await fill('the old one', 'the new one')
    await vi.waitFor(() => expect(emitted()['done']).toHaveLength(1))
    expect(server.calls.at(-1)?.body).toEqual({
      old_password: 'the old one',
      new_password: 'the new one',
      cookie: true,
    })
    expect(readAccess()).toBe('after')
  })
  it('tells the rule before, and what breaks it under its field, without asking the server', async () => {
    const { server } = show(() => json(grant('after')))
    expect(screen.getByText('8 to 256 characters.')).toBeTruthy()
    await fill('', 'short', 'other')
    expect(screen.getAllByRole('alert').map((line) => line.textContent)).toEqual([
      'Fill this in.',
      '8 to 256 characters.',
      'This is not the same as above.',
    ])
    expect(document.activeElement).toBe(field('Current password'))
    expect(server.calls).toEqual([])
  })
  it('shows each password by itself to who asks', async () => {
    show(() => json(grant('after')))
    const toggles = screen.getAllByRole('button', { name: 'Show what is typed' })
    expect(toggles).toHaveLength(3)
    await userEvent.click(toggles[1]!)
    const types = [...document.querySelectorAll('input[name$=password]')].map((input) => input.getAttribute('type'))
    expect(types).toEqual(['password', 'text', 'password'])
  })
  it('says under the old password that it is wrong, and lets one try again', async () => {
    show(() => problem(422, 'wrong_password'))
    await fill('not this', 'the new one')
    const line = await screen.findByRole('alert')
    expect(line.textContent).toBe('This is not your current password.')
    expect(field('Current password').getAttribute('aria-describedby')).toContain(line.id)
  })
})
