// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen, within } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SettingBody } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { silentAudio } from '@/shared/testing/silentAudio'
import NotificationsPage from './NotificationsPage.vue'

const WAITING = 'When the agent waits for you'
let own: Set<string>
let shown: string[]
let asked: number

beforeEach(() => {
  ;[own, shown, asked] = [new Set(), [], 0]
  setActivePinia(createPinia())
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

/** A browser of which the person says `answer` when it asks. */
function browser(present: NotificationPermission, answer: NotificationPermission, isSecure = true): void {
  const Shown = Object.assign(
    function (title: string) {
      shown.push(title)
    },
    {
      permission: present,
      requestPermission: () => {
        asked += 1
        Shown.permission = answer
        return Promise.resolve(answer)
      },
    },
  )
  vi.stubGlobal('Notification', Shown)
  vi.stubGlobal('isSecureContext', isSecure)
}
async function show(refuses = false) {
  const told = (key: string): SettingBody =>
    ({
      category: 'notifications',
      key,
      value: own.has(key),
      source: own.has(key) ? 'user' : 'deployment',
    }) as unknown as SettingBody
  const routes = ['waiting', 'finished', 'sound'].map((key) => ({
    [`PUT /settings/notifications/${key}`]: () => {
      if (refuses) return problem(503, 'unavailable', 'Not now.')
      own.add(key)
      return json(told(key))
    },
    [`DELETE /settings/notifications/${key}`]: () => {
      own.delete(key)
      return json(told(key))
    },
  }))
  startFakeServer({
    'GET /settings': () => json(['waiting', 'finished', 'sound'].map(told)),
    ...Object.assign({}, ...routes),
  })
  render(NotificationsPage, { global: { plugins: [i18n] } })
  await screen.findByRole('group', { name: WAITING })
}
const choice = (name: string) =>
  within(screen.getByRole('group', { name: WAITING })).getByRole<HTMLInputElement>('radio', { name })

describe('notifications', () => {
  it('are off, and asked for by the click that switches one on, which shows how it looks', async () => {
    browser('default', 'granted')
    await show()
    expect([choice('No').checked, asked, screen.getByRole('status').textContent]).toEqual([true, 0, ''])
    await userEvent.click(choice('Yes'))
    await expect.poll(() => [...own]).toEqual(['waiting'])
    expect([asked, shown]).toEqual([1, ['This is how you are told.']])
    expect(choice('Yes').checked).toBe(true)
    await userEvent.click(choice('No'))
    await expect.poll(() => own.size).toBe(0)
    expect(asked).toBe(1)
  })
  it('come with a sound where one is chosen, which is played at once, and offer none where all are off', async () => {
    let notes = 0
    vi.stubGlobal(
      'AudioContext',
      silentAudio(() => (notes += 1)),
    )
    browser('granted', 'granted')
    await show()
    expect(screen.queryByRole('group', { name: 'With a sound' })).toBeNull()
    await userEvent.click(choice('Yes'))
    const sound = within(await screen.findByRole('group', { name: 'With a sound' }))
    await userEvent.click(sound.getByRole('radio', { name: 'Yes' }))
    await expect.poll(() => [...own]).toEqual(['waiting', 'sound'])
    expect(notes).toBe(2)
    await userEvent.click(sound.getByRole('radio', { name: 'No' }))
    await expect.poll(() => [...own]).toEqual(['waiting'])
    expect(notes).toBe(2)
  })
  it('stay off where the browser refuses, has none, or may not, which is said', async () => {
    for (const [prepare, said] of [
      [() => browser('default', 'denied'), /^This browser refuses/],
      [() => browser('granted', 'granted', false), /^Browsers show notifications only/],
    ] as const) {
      prepare()
      await show()
      await userEvent.click(choice('Yes'))
      expect(await screen.findByText(said)).toBeTruthy()
      await expect.poll(() => choice('No').checked).toBe(true)
      expect([own.size, shown]).toEqual([0, []])
      cleanup()
    }
  })
  it('that were switched on elsewhere are asked for in this browser by a click', async () => {
    own.add('waiting')
    browser('default', 'granted')
    await show()
    expect(asked).toBe(0)
    await userEvent.click(screen.getByRole('button', { name: 'Allow in this browser' }))
    await expect.poll(() => screen.getByRole('status').textContent).toBe('')
    expect([asked, shown.length]).toEqual([1, 1])
  })
  it('stay off where the server keeps nothing, which is said', async () => {
    browser('granted', 'granted')
    await show(true)
    await userEvent.click(choice('Yes'))
    expect(await screen.findByRole('alert')).toBeTruthy()
    await expect.poll(() => choice('No').checked).toBe(true)
  })
  // The last one: what a browser can't show it never can.
  it('stay off where a page may show none though the person allows it', async () => {
    browser('granted', 'granted')
    vi.stubGlobal(
      'Notification',
      Object.assign(
        function () {
          throw new TypeError('Illegal constructor')
        },
        { permission: 'granted' },
      ),
    )
    await show()
    await userEvent.click(choice('Yes'))
    expect(await screen.findByText(/^This browser shows no notifications/)).toBeTruthy()
    await expect.poll(() => choice('No').checked).toBe(true)
    expect(own.size).toBe(0)
  })
})
