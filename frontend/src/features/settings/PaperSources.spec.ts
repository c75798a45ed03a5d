// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import PaperSources from './PaperSources.vue'
import { useUserSettings } from './userSettings'

const shown = (key: string, value: unknown = null) => ({
  ...{ category: 'research', key, value, source: 'deployment', is_set: false, may_set: true, ends_with: null },
  ...{ problem: null },
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

it('tries a key for a source of papers, says what it answered, and keeps the address', async () => {
  const pinia = createPinia()
  setActivePinia(pinia)
  const server = startFakeServer({
    'GET /settings': () => json(['openalex_api_key', 'semantic_scholar_api_key', 'contact'].map((key) => shown(key))),
    'POST /corpus/sources/openalex/test': () => json({ outcome: 'wrong_key', detail: 'OpenAlex refuses (403).' }),
    'PUT /settings/research/contact': ({ body }) => json(shown('contact', (body as { value: string }).value)),
  })
  await useUserSettings().load()
  render(PaperSources, { global: { plugins: [i18n, pinia] } })
  const form = within(screen.getByRole('form', { name: 'OpenAlex' }))
  await userEvent.type(form.getByLabelText('Key'), 'a-key-of-mine')
  await userEvent.click(form.getByRole('button', { name: 'Test' }))
  expect((await form.findByRole('alert')).textContent).toContain('OpenAlex refuses (403).')
  expect(server.calls.at(-1)).toMatchObject({
    ...{ path: '/corpus/sources/openalex/test', body: { key: 'a-key-of-mine' } },
  })
  const mail = within(screen.getByRole('form', { name: 'Your e-mail address for sources' }))
  await userEvent.type(mail.getByRole('textbox'), 'anna@example.org')
  await userEvent.click(mail.getByRole('button', { name: 'Save' }))
  await mail.findByText('Saved.')
  expect(server.calls.at(-1)?.body).toEqual({ value: 'anna@example.org' })
})
