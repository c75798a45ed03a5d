// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SettingBody } from '@/api/types'
import { i18n, setLanguage } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import ModelsPage from './ModelsPage.vue'

const KEY = 'sk-0123456789abcdefghij'
let stored: Map<string, unknown>
let mayStore: boolean
let refused: string[]
let trial: (() => Response) | null

beforeEach(() => {
  stored = new Map()
  mayStore = true
  refused = []
  trial = null
  setActivePinia(createPinia())
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function shown(name: string): SettingBody {
  const [category = '', key = ''] = name.split('/')
  const isSecret = key.endsWith('_key')
  const value = stored.get(name)
  return {
    category,
    key,
    value: isSecret ? null : (value ?? null),
    source: value === undefined ? 'deployment' : 'user',
    is_secret: isSecret,
    is_set: value !== undefined,
    ends_with: isSecret && typeof value === 'string' ? value.slice(-4) : null,
    may_set: mayStore && !refused.includes(name),
    problem: null,
  } as SettingBody
}
const names = [
  'models/default_model',
  'models/openai_api_key',
  'models/openai_base_url',
  'models/openai_models',
  'models/anthropic_api_key',
  'models/anthropic_models',
  'search/tavily_api_key',
  'search/brave_api_key',
  'search/serper_api_key',
]

async function show() {
  const put = (name: string) => ({
    [`PUT /settings/${name}`]: ({ body }: { body: unknown }) => {
      if (name.endsWith('_base_url')) stored.delete('models/openai_api_key')
      stored.set(name, (body as { value: unknown }).value)
      return json(shown(name))
    },
    [`DELETE /settings/${name}`]: () => {
      stored.delete(name)
      return json(shown(name))
    },
  })
  const server = startFakeServer({
    'GET /settings': () => json(names.map(shown)),
    'GET /models': () => json([]),
    'POST /settings/models/test': ({ body }) =>
      trial?.() ??
      ((body as { key?: string }).key === KEY
        ? json({ outcome: 'ok', model: 'gpt-5.5', detail: '' })
        : json({ outcome: 'wrong_key', model: 'gpt-5.5', detail: 'It says no.' })),
    'POST /settings/search/test': ({ body }) =>
      (body as { key?: string }).key === KEY
        ? json({ outcome: 'ok', detail: '' })
        : json({ outcome: 'limit', detail: 'It is spent.' }),
    ...Object.assign({}, ...names.map(put)),
  })
  render(ModelsPage, { global: { plugins: [i18n] } })
  const form = within(await screen.findByRole('form', { name: /OpenAI/ }))
  return { server, form }
}

describe('the page of models and keys', () => {
  it('keeps a key with its address and models, shows its end alone, and takes all back', async () => {
    const { server, form } = await show()
    await userEvent.type(form.getByLabelText('Key'), KEY)
    await userEvent.type(form.getByLabelText('Address'), 'https://openrouter.ai/api/v1')
    await userEvent.type(form.getByLabelText('Models'), 'one, two')
    await userEvent.click(form.getByRole('button', { name: 'Save' }))
    await form.findByText('Saved. It is used from the next message on.')
    expect(Object.fromEntries(stored)).toEqual({
      'models/openai_api_key': KEY,
      'models/openai_base_url': 'https://openrouter.ai/api/v1',
      'models/openai_models': ['one', 'two'],
    })
    expect(form.getByText('Your key, ending in ghij')).toBeTruthy()
    expect((form.getByLabelText('Another key') as HTMLInputElement).value).toBe('')
    expect(server.calls.some(({ path }) => path === '/models')).toBe(true)
    const remove = form.getByRole('button', { name: 'Remove' })
    await userEvent.click(remove)
    expect(document.activeElement).toBe(form.getByRole('button', { name: 'Cancel' }))
    await userEvent.keyboard('{Enter}')
    expect(document.activeElement).toBe(form.getByRole('button', { name: 'Remove' }))
    expect(form.queryByText('Removed.')).toBeNull()
    await userEvent.keyboard('{Enter}')
    await userEvent.click(form.getByRole('button', { name: 'Remove key' }))
    await form.findByText('Removed.')
    expect(stored.size).toBe(0)
    expect(form.getByText('Not set')).toBeTruthy()
  })
  it('tries what is typed, and says what is wrong with it beside it', async () => {
    const { form } = await show()
    await userEvent.type(form.getByLabelText('Key'), 'sk-wrong')
    await userEvent.click(form.getByRole('button', { name: 'Test' }))
    expect((await form.findByRole('alert')).textContent).toContain('The key was refused. It says no.')
    await userEvent.clear(form.getByLabelText('Key'))
    await userEvent.type(form.getByLabelText('Key'), KEY)
    await userEvent.click(form.getByRole('button', { name: 'Test' }))
    expect((await form.findByRole('status')).textContent).toContain('It works: gpt-5.5 has answered.')
    expect(stored.size).toBe(0)
  })
  it('says that a saved key goes with its address, and tries one at none but what stands there', async () => {
    stored.set('models/openai_api_key', KEY).set('models/openai_base_url', 'https://openrouter.ai/api/v1')
    const { server, form } = await show()
    await userEvent.clear(form.getByLabelText('Address'))
    expect(form.getByText(/is removed with it/)).toBeTruthy()
    await userEvent.type(form.getByLabelText('Key'), 'sk-another')
    await userEvent.click(form.getByRole('button', { name: 'Test' }))
    await form.findByRole('alert')
    const tried = server.calls.find(({ path }) => path === '/settings/models/test')
    expect(tried?.body).toEqual({ provider: 'openai', key: 'sk-another', base_url: '' })
    await userEvent.clear(form.getByLabelText('Key'))
    await userEvent.type(form.getByLabelText('Address'), 'https://api.deepseek.com')
    await userEvent.click(form.getByRole('button', { name: 'Save' }))
    await form.findByText('Your address, without a key')
    expect([...stored.keys()]).toEqual(['models/openai_base_url'])
  })
  it('tries a key before it saves it, and saves one that is refused only where the person says so', async () => {
    const { server, form } = await show()
    const save = () => userEvent.click(form.getByRole('button', { name: 'Save' }))
    await userEvent.type(form.getByLabelText('Key'), 'sk-wrong')
    await save()
    expect((await form.findByRole('alert')).textContent).toContain('The key was refused. It says no.')
    expect(document.activeElement).toBe(form.getByRole('button', { name: 'Cancel' }))
    await userEvent.click(form.getByRole('button', { name: 'Cancel' }))
    expect(document.activeElement).toBe(form.getByLabelText('Key'))
    await save()
    await userEvent.type(form.getByLabelText('Key'), 'r')
    expect(form.queryByRole('button', { name: 'Save anyway' })).toBeNull()
    await save()
    expect(stored.size).toBe(0)
    await userEvent.click(await form.findByRole('button', { name: 'Save anyway' }))
    await form.findByText('Saved. It is used from the next message on.')
    expect(stored.get('models/openai_api_key')).toBe('sk-wrongr')
    expect(form.queryByRole('button', { name: 'Save anyway' })).toBeNull()
    const tried = server.calls.filter(({ path }) => path === '/settings/models/test')
    expect(tried.map(({ body }) => (body as { key: string }).key)).toEqual(['sk-wrong', 'sk-wrong', 'sk-wrongr'])
  })
  it('saves a key that can’t be tried just now, or whose limit is reached, and says so', async () => {
    const { form } = await show()
    trial = () => json({ outcome: 'unreachable', model: 'gpt-5.5', detail: 'Nobody is there.' })
    const save = async (key: string) => {
      await userEvent.type(form.getByLabelText(/[Kk]ey$/), key)
      await userEvent.click(form.getByRole('button', { name: 'Save' }))
    }
    await save('sk-1')
    await form.findByText(/^Saved, though it could not be tried just now/)
    expect((await form.findByRole('alert')).textContent).toContain('No answer came from there. Nobody is there.')
    setLanguage('zh')
    expect((await form.findByRole('alert')).textContent?.trim()).toBe('对方没有回答。')
    setLanguage('en')
    await form.findByLabelText('Another key')
    trial = () => problem(429, 'limit')
    await save('sk-2')
    await form.findByText(/^Saved, though it could not be tried just now/)
    trial = () => json({ outcome: 'limit', model: 'gpt-5.5', detail: '' })
    await save('sk-3')
    await form.findByText(/^Saved\. /)
    expect((await form.findByRole('alert')).textContent).toContain('its limit is reached')
    expect(stored.get('models/openai_api_key')).toBe('sk-3')
  })
  it('sends nothing that is too long for a key, and says so', async () => {
    const { server, form } = await show()
    await userEvent.click(form.getByLabelText('Key'))
    await userEvent.paste('k'.repeat(100_000))
    for (const name of ['Save', 'Test']) {
      await userEvent.click(form.getByRole('button', { name }))
      const told = await form.findByRole('alert')
      expect(told.textContent).toContain('it has 100,000 characters, and a key has at most 500')
    }
    expect(server.calls.every(({ method }) => method === 'GET')).toBe(true)
  })
  it('says that there is nothing to save where nothing is entered or changed', async () => {
    stored.set('models/openai_base_url', 'https://openrouter.ai/api/v1').set('models/openai_models', ['one', 'two'])
    const { server, form } = await show()
    const other = within(screen.getByRole('form', { name: /Anthropic/ }))
    for (const one of [form, other]) {
      await userEvent.click(one.getByRole('button', { name: 'Save' }))
      expect((await one.findByRole('alert')).textContent).toContain('There is nothing to save')
      expect(one.queryByText(/^Saved/)).toBeNull()
    }
    expect(server.calls.every(({ method }) => method === 'GET')).toBe(true)
  })
  it('leaves what is typed elsewhere when one is saved', async () => {
    const { form } = await show()
    await userEvent.type(form.getByLabelText('Address'), 'https://openrouter.ai/api/v1')
    await userEvent.type(form.getByLabelText('Models'), 'one')
    const other = within(screen.getByRole('form', { name: /Anthropic/ }))
    await userEvent.type(other.getByLabelText('Models'), 'two')
    await userEvent.click(other.getByRole('button', { name: 'Save' }))
    await other.findByText('Saved. It is used from the next message on.')
    expect(form.getByLabelText('Address')).toHaveProperty('value', 'https://openrouter.ai/api/v1')
    expect(form.getByLabelText('Models')).toHaveProperty('value', 'one')
    expect([...stored.keys()]).toEqual(['models/anthropic_models'])
  })
  it('tries a key for searching the web, typed or saved, and keeps it', async () => {
    const { server } = await show()
    const form = within(screen.getByRole('form', { name: /Brave/ }))
    await userEvent.type(form.getByLabelText('Key'), `${KEY} `)
    await userEvent.click(form.getByRole('button', { name: 'Test' }))
    expect((await form.findByRole('status')).textContent).toContain('It works: Brave Search has answered.')
    await userEvent.click(form.getByRole('button', { name: 'Save' }))
    await form.findByText('Saved. It is used from the next message on.')
    expect(stored.get('search/brave_api_key')).toBe(KEY)
    await userEvent.click(form.getByRole('button', { name: 'Test' }))
    expect((await form.findByRole('alert')).textContent).toContain('It is spent.')
    const tried = server.calls.filter(({ path }) => path === '/settings/search/test')
    expect(tried.map(({ body }) => body)).toEqual([{ provider: 'brave', key: KEY }, { provider: 'brave' }])
  })
  it('offers only the providers of search that this server asks with keys of its users', async () => {
    refused = ['search/tavily_api_key', 'search/serper_api_key']
    await show()
    const forms = screen.getAllByRole('form').map((one) => one.getAttribute('aria-label'))
    expect(forms.filter((one) => /Tavily|Brave|Serper/.test(one ?? ''))).toEqual(['Brave Search'])
    expect(screen.getByText(/in place of this server’s key/)).toBeTruthy()
  })
  it('says why where the server keeps no keys', async () => {
    mayStore = false
    startFakeServer({ 'GET /settings': () => json(names.map(shown)), 'GET /models': () => problem(503, 'unavailable') })
    render(ModelsPage, { global: { plugins: [i18n] } })
    expect(await screen.findByText(/has not set SECRETS_KEY/)).toBeTruthy()
    expect(screen.queryByRole('form')).toBeNull()
  })
})
