// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { routerAt } from '@/shared/testing/routerAt'
import SessionSearch from './SessionSearch.vue'

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

it('says that it looks at titles alone, and asks for no more than the server looks for', async () => {
  const { calls } = startFakeServer({ 'GET /sessions': () => json({ items: [], next_cursor: null }) })
  const { rerender } = render(SessionSearch, {
    props: { open: false },
    global: { plugins: [i18n, await routerAt('/')] },
  })
  await rerender({ open: true })
  const field = screen.getByPlaceholderText('Find a conversation by its title')
  expect(screen.getByText('No conversations yet.')).toBeTruthy()
  field.focus()
  await userEvent.paste('word77 '.repeat(5_000))
  expect(await screen.findByText(/^No title contains this\. What was said .* is not searched/)).toBeTruthy()
  const asked = (): string | null => new URLSearchParams(calls.at(-1)?.path.split('?')[1]).get('q')
  await vi.waitFor(() => expect(asked()).toBe('word77 '.repeat(200).slice(0, 200).trim()))
})
