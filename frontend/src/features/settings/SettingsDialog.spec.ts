// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { useAuth } from '@/features/auth'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { pages, settingsPageNamed } from './pages'
import SettingsDialog from './SettingsDialog.vue'
import { useSettingsPage } from './settingsPage'

const names = (): string[] => screen.getAllByRole('tab').map((tab) => tab.textContent?.trim() ?? '')
const chosen = (): string => screen.getByRole('tab', { selected: true }).textContent?.trim() ?? ''

beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

async function show(mode: 'local' | 'password' = 'password') {
  startFakeServer({
    'GET /auth/status': () => json({ mode, has_users: true, registration_open: true, max_upload_bytes: 10 }),
    'GET /auth/me': () => json({ id: 'u', username: 'mei', is_admin: false }),
  })
  await useAuth()
    .start()
    .catch(() => undefined)
  return render(SettingsDialog, { global: { plugins: [i18n] } })
}

describe('the pages of the settings', () => {
  it('stand in the navigation in the order of the table', async () => {
    await show()
    useSettingsPage().show()
    await nextTick()
    expect(names()).toEqual(pages.map(({ label }) => i18n.global.t(label)))
    expect(chosen()).toBe('Appearance')
  })
  it('leave out the account where nobody logs in', async () => {
    await show('local')
    useSettingsPage().show()
    await nextTick()
    expect(names()).toEqual([
      'Appearance',
      'Models and keys',
      'Defaults',
      'Skills',
      'Memories',
      'Agents',
      'MCP servers',
      'Computers',
      'Schedules',
      'Notifications',
      'Links',
      'Usage',
      'About',
    ])
    expect(settingsPageNamed('account')).toBeNull()
  })
  it('are gone through with the arrows, and the one seen last opens again', async () => {
    await show()
    const settings = useSettingsPage()
    settings.show('appearance')
    await nextTick()
    screen.getByRole('tab', { name: 'Appearance' }).focus()
    await userEvent.keyboard('{ArrowDown}')
    expect(settings.shown).toBe('models')
    await userEvent.keyboard('{Escape}')
    expect(settings.shown).toBeNull()
    settings.isOpen = true
    await nextTick()
    expect(chosen()).toBe('Models and keys')
  })
  it('stand in a row on a phone, which shows the chosen one whole and says where it goes on', async () => {
    vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: true }))
    const at = vi.spyOn(HTMLElement.prototype, 'offsetLeft', 'get').mockReturnValue(500)
    const wide = vi.spyOn(HTMLElement.prototype, 'offsetWidth', 'get').mockReturnValue(100)
    vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(300)
    vi.spyOn(HTMLElement.prototype, 'scrollWidth', 'get').mockReturnValue(700)
    await show()
    useSettingsPage().show('usage')
    const row = await screen.findByRole('tablist')
    await expect.poll(() => row.scrollLeft).toBe(500 - (300 - 100) / 2)
    row.dispatchEvent(new Event('scroll'))
    await nextTick()
    const marks = (): (string | undefined)[] =>
      [...document.querySelectorAll<HTMLElement>('[data-more]')].map(({ dataset }) => dataset['more'])
    expect(marks()).toEqual(['before'])
    at.mockReturnValue(0)
    wide.mockReturnValue(300)
    useSettingsPage().show('appearance')
    await expect.poll(() => row.scrollLeft).toBe(0)
    row.dispatchEvent(new Event('scroll'))
    await nextTick()
    expect(marks()).toEqual(['after'])
  })
  it('are named by the address, and by nothing else', async () => {
    await show()
    expect(settingsPageNamed('models')).toBe('models')
    expect(settingsPageNamed('nothing')).toBeNull()
    expect(settingsPageNamed(null)).toBeNull()
  })
})
