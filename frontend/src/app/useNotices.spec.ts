// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defineComponent, h, nextTick } from 'vue'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { Session, SettingBody } from '@/api/types'
import { useSessions } from '@/features/sessions'
import { useUserSettings } from '@/features/settings'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { silentAudio } from '@/shared/testing/silentAudio'
import { useNotices } from './useNotices'

interface Shown {
  title: string
  tag: string
  body: string
  isClosed: boolean
  onclick: () => void
}
let shown: Shown[]
let isOn: boolean
let isSeenElsewhere: boolean
let seen: DocumentVisibilityState
let updates = 0
let queries = 0
let isSoundOn: boolean
let isPlayedElsewhere: boolean
let notes: number

const router = createRouter({
  history: createMemoryHistory(),
  routes: [
    { path: '/', component: {} },
    { path: '/s/:id', component: {} },
  ],
})
const Tab = defineComponent(() => {
  useNotices()
  return () => h('div')
})

beforeEach(() => {
  queries = notes = 0
  isSoundOn = isPlayedElsewhere = false
  vi.stubGlobal(
    'AudioContext',
    silentAudio(() => (notes += 1)),
  )
  ;[shown, isOn, isSeenElsewhere, seen] = [[], true, false, 'visible']
  setActivePinia(createPinia())
  const shows = function (
    this: Shown & { close: () => void },
    title: string,
    { tag = '', body = '' }: NotificationOptions,
  ) {
    Object.assign(this, { title, tag, body, isClosed: false, close: () => (this.isClosed = true) })
    shown.push(this)
  }
  vi.stubGlobal('Notification', Object.assign(shows, { permission: 'granted' }))
  vi.stubGlobal('isSecureContext', true)
  vi.spyOn(document, 'visibilityState', 'get').mockImplementation(() => seen)
  const locks = {
    request: (_: string, __: LockOptions, work: (lock: object | null) => unknown) =>
      Promise.resolve(work(isPlayedElsewhere ? null : {})),
    query: () => {
      queries += 1
      return Promise.resolve({ held: isSeenElsewhere ? [{ name: 'deskmate-seen' }] : [] })
    },
  }
  Object.defineProperty(navigator, 'locks', { configurable: true, value: locks })
  startFakeServer({
    'GET /settings': () =>
      json([
        { category: 'notifications', key: 'waiting', value: isOn, source: 'user' },
        { category: 'notifications', key: 'sound', value: isSoundOn, source: 'user' },
      ] as unknown as SettingBody[]),
  })
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

async function open(): Promise<void> {
  await useUserSettings().load()
  render(Tab, { global: { plugins: [i18n, router] } })
  become('running')
  await nextTick()
}
function become(status: Session['status']): void {
  const at = `2026-01-01T00:00:${String((updates += 1)).padStart(2, '0')}Z`
  const told = { id: 's', title: 'Otters', last_seq: updates, updated_at: at, active_at: at, read_seq: 0, unread: 0 }
  useSessions().keep({ ...told, status } as Session)
}
async function look(state: DocumentVisibilityState): Promise<void> {
  seen = state
  document.dispatchEvent(new Event('visibilitychange'))
  await nextTick()
}
/** Every change of these is looked at by itself. */
async function go(...through: Session['status'][]): Promise<void> {
  for (const status of through) {
    become(status)
    await nextTick()
  }
}
const told = (): string[] => shown.map(({ body }) => body)
const WAITS = 'The agent waits for you.'

it('tells that a run waits while the page is hidden, leads there, and takes it back once the page is seen', async () => {
  await open()
  await look('hidden')
  await go('waiting')
  await expect.poll(() => shown.map(({ title, tag }) => [title, tag])).toEqual([['Otters', 's']])
  shown[0]?.onclick()
  await expect.poll(() => router.currentRoute.value.path).toBe('/s/s')
  // That it ended was not chosen.
  await go('idle', 'running', 'waiting')
  await expect.poll(told).toEqual([WAITS, WAITS])
  await look('visible')
  expect(shown.map(({ isClosed }) => isClosed)).toEqual([true, true])
})
it('tells nothing while this page or another one of the browser is seen, or where it is off by now', async () => {
  await open()
  await go('waiting', 'running')
  await look('hidden')
  isSeenElsewhere = true
  await go('waiting', 'running')
  const settings = useUserSettings()
  await expect.poll(() => queries).toBe(1)
  isSeenElsewhere = isOn = false
  await go('waiting', 'running')
  await expect.poll(() => settings.isOn('notifications/waiting')).toBe(false)
  isOn = true
  await settings.load()
  await go('waiting')
  await expect.poll(told).toEqual([WAITS])
})

it('plays its sound where it is on, and one page of several does', async () => {
  await open()
  await look('hidden')
  await go('waiting', 'running')
  await expect.poll(told).toHaveLength(1)
  expect(notes).toBe(0)
  isSoundOn = true
  await go('waiting', 'running')
  await expect.poll(told).toHaveLength(2)
  await expect.poll(() => notes).toBe(2)
  isPlayedElsewhere = true
  await go('waiting')
  await expect.poll(told).toHaveLength(3)
  expect(notes).toBe(2)
})
