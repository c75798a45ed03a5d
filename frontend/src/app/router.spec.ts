// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { startFakeServer } from '@/shared/testing/fakeServer'
import { router } from './router'

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

it('says of an address that there is no such page, and leads on', async () => {
  setActivePinia(createPinia())
  startFakeServer({})
  const replace = vi.spyOn(router, 'replace').mockResolvedValue(undefined)
  const [found] = router.resolve('/foo/bar').matched
  expect(found?.redirect).toBeUndefined()
  render(found?.components?.['default'] ?? {}, { global: { plugins: [i18n, router] } })
  expect(screen.getByRole('heading', { name: 'This page is not here' })).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'New conversation' }))
  expect(replace).toHaveBeenCalledWith('/')
})
