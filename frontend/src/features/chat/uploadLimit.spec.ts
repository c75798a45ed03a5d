// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ApiError } from '@/api/problems'
import { useAuth } from '@/features/auth'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { trayOf } from './drafts'
import { useUploads } from './uploads'

const upload = vi.hoisted(() => vi.fn())
vi.mock('@/api/upload', () => ({ uploadFiles: upload }))

beforeEach(async () => {
  upload.mockClear()
  setActivePinia(createPinia())
  startFakeServer({
    'GET /auth/status': () => json({ mode: 'local', has_users: true, registration_open: false, max_upload_bytes: 10 }),
    'GET /auth/me': () => json({ id: 'u', username: 'u', is_admin: false }),
  })
  await useAuth().start()
})
afterEach(() => vi.unstubAllGlobals())

it('refuses a file that is too large before a conversation is begun or anything is sent', async () => {
  const begin = vi.fn(() => Promise.resolve('s'))
  const { add, list } = useUploads(() => trayOf('u', null), begin)
  await add([new File(['12345678901'], 'large.bin')])
  expect([begin.mock.calls, upload.mock.calls]).toEqual([[], []])
  const { problem } = list.value[0]!
  expect(problem instanceof ApiError && [problem.status, problem.limitBytes]).toEqual([413, 10])
})
