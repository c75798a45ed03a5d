// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import ConnectModel from './ConnectModel.vue'

const KEY = 'sk-0123456789abcdefghij'
beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show(answer: (body: Record<string, string>) => Response) {
  const stored = new Map<string, unknown>()
  const keep = (name: string) => ({
    [`PUT /settings/${name}`]: ({ body }: { body: unknown }) => {
      stored.set(name, (body as { value: unknown }).value)
      return json({ category: 'models', key: name.split('/')[1] })
    },
    [`DELETE /settings/${name}`]: () => {
      stored.delete(name)
      return json({ category: 'models', key: name.split('/')[1] })
    },
  })
  const server = startFakeServer({
    'GET /settings': () => json([]),
    'GET /models': () => json([]),
    'POST /settings/models/available': ({ body }) => answer(body as Record<string, string>),
    ...Object.assign(
      {},
      ...[
        'openai_base_url',
        'openai_api_key',
        'openai_models',
        'anthropic_api_key',
        'anthropic_models',
        'default_model',
      ].map((name) => keep(`models/${name}`)),
    ),
  })
  const { emitted } = render(ConnectModel, { global: { plugins: [i18n] } })
  return { server, stored, emitted }
}
const found = (...models: string[]) => json({ outcome: 'ok', models, best: models[1] ?? null, detail: '' })

describe('connecting a model', () => {
  it('lists the models once a key is pasted, and keeps what is chosen', async () => {
    const { stored, server, emitted } = show(() => found('newest', 'usual'))
    await userEvent.click(screen.getByRole('button', { name: 'OpenRouter' }))
    expect(document.activeElement).toBe(screen.getByLabelText('Key for OpenRouter'))
    await userEvent.paste(KEY)
    const best = await screen.findByRole<HTMLInputElement>('radio', { name: /usual/ })
    expect(best.checked).toBe(true)
    expect(server.calls.find(({ path }) => path === '/settings/models/available')?.body).toEqual({
      provider: 'openai',
      key: KEY,
      base_url: 'https://openrouter.ai/api/v1',
    })
    await userEvent.click(screen.getByRole('radio', { name: 'newest' }))
    await userEvent.click(screen.getByRole('button', { name: 'Use newest' }))
    await vi.waitFor(() => expect(emitted('connected')).toEqual([['newest']]))
    expect(Object.fromEntries(stored)).toEqual({
      'models/openai_base_url': 'https://openrouter.ai/api/v1',
      'models/openai_api_key': KEY,
      'models/openai_models': ['newest'],
      'models/default_model': 'newest',
    })
  })
  it('asks a server of one’s own without a key', async () => {
    const { server } = show(() => found('qwen3:8b'))
    await userEvent.click(screen.getByRole('button', { name: 'Ollama' }))
    await screen.findByRole('radio', { name: /qwen3/ })
    expect(server.calls.find(({ path }) => path === '/settings/models/available')?.body).toMatchObject({
      base_url: 'http://localhost:11434/v1',
    })
  })
  it('has a filter where there are many, which changes no choice', async () => {
    show(() => found(...Array.from({ length: 30 }, (_, at) => `model-${at}`)))
    await userEvent.click(screen.getByRole('button', { name: 'Anthropic' }))
    await userEvent.paste(KEY)
    await userEvent.type(await screen.findByLabelText('Filter models'), '29')
    expect(screen.getAllByRole('radio')).toHaveLength(1)
    expect(screen.getByRole('button', { name: 'Use model-1' })).toBeTruthy()
    await userEvent.type(screen.getByLabelText('Filter models'), 'x')
    expect(screen.getByText('No model has this in its name.')).toBeTruthy()
  })
  it('says what is wrong with a key, and keeps nothing', async () => {
    const { stored } = show(() => json({ outcome: 'wrong_key', models: [], best: null, detail: 'It says no.' }))
    await userEvent.click(screen.getByRole('button', { name: 'OpenAI' }))
    await userEvent.paste(KEY)
    expect((await screen.findByRole('alert')).textContent).toContain('The key was refused. It says no.')
    expect(screen.queryByRole('button', { name: /^Use/ })).toBeNull()
    expect(stored.size).toBe(0)
  })
  it('lets a model be named where the service lists none', async () => {
    const { stored, emitted } = show(() => json({ outcome: 'no_such_model', models: [], best: null, detail: '' }))
    await userEvent.click(screen.getByRole('button', { name: 'Another service' }))
    await userEvent.paste('http://localhost:8000/v1')
    await userEvent.type(await screen.findByLabelText('Name of a model'), 'mine')
    await userEvent.click(screen.getByRole('button', { name: 'Use mine' }))
    await vi.waitFor(() => expect(emitted('connected')).toEqual([['mine']]))
    expect(stored.get('models/openai_models')).toEqual(['mine'])
  })
  it('shows why nothing could be asked', async () => {
    show(() => problem(422, 'invalid', 'The address must begin with https:// and name no port.'))
    await userEvent.click(screen.getByRole('button', { name: 'Ollama' }))
    expect((await screen.findByRole('alert')).textContent).toContain('https://')
    expect(screen.getByRole('button', { name: 'Show its models' })).toBeTruthy()
  })
})
