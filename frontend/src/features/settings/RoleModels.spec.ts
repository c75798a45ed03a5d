// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ModelInfo, SettingBody } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { useModels } from './models'
import RoleModels from './RoleModels.vue'
import { useUserSettings } from './userSettings'

const NAMES = ['subagent', 'teammate', 'compact', 'title', 'fallback'].map((role) => `models/${role}_model`)
const LARGE = { id: 'large', label: 'Large', is_demo: false, is_default: true, is_official: true }
const SMALL = { id: 'small', label: 'Small', is_demo: false, is_default: false, is_official: true }
const DEMO = { id: 'demo', label: 'Demo', is_demo: true, is_default: false, is_official: true }
let own: Map<string, string>

beforeEach(() => {
  own = new Map()
  setActivePinia(createPinia())
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

/** The server has a model for titles alone. */
async function show(models: object[], refuses = false) {
  const offered = new Set((models as ModelInfo[]).map(({ id }) => id))
  const told = (name: string): SettingBody => {
    const chosen = own.get(name)
    const standing = name === 'models/title_model' ? 'small' : null
    return {
      category: 'models',
      key: name.split('/')[1],
      value: chosen ?? standing,
      default: standing,
      source: chosen === undefined ? 'deployment' : 'user',
      problem: chosen !== undefined && !offered.has(chosen) ? 'not_available' : null,
    } as unknown as SettingBody
  }
  const routes = NAMES.map((name) => ({
    [`PUT /settings/${name}`]: ({ body }: { body: unknown }) => {
      if (refuses) return problem(503, 'unavailable', 'Not now.')
      own.set(name, (body as { value: string }).value)
      return json(told(name))
    },
    [`DELETE /settings/${name}`]: () => {
      own.delete(name)
      return json(told(name))
    },
  }))
  startFakeServer({
    'GET /settings': () => json(NAMES.map(told)),
    'GET /models': () => json(models),
    ...Object.assign({}, ...routes),
  })
  await Promise.all([useUserSettings().load(), useModels().load()])
  render(RoleModels, { global: { plugins: [i18n] } })
}
const select = (name: string) => screen.getByRole<HTMLSelectElement>('combobox', { name })
const offeredIn = (name: string): string[] => [...select(name).options].map(({ text }) => text.trim())

describe('models for single tasks', () => {
  it('are as the server has them until one is chosen, and again when it is taken back', async () => {
    await show([LARGE, SMALL, DEMO])
    expect(offeredIn('Titles')).toEqual(['Server default: Small', 'Large', 'Small'])
    expect(offeredIn('Sub-agents')[0]).toBe('Server default: the conversation’s')
    expect(offeredIn('Instead of one that fails')[0]).toBe('Server default: none')
    await userEvent.selectOptions(select('Titles'), 'Large')
    await expect.poll(() => own.get('models/title_model')).toBe('large')
    expect(select('Titles').value).toBe('large')
    expect(offeredIn('Titles')[0]).toBe('Server default: Small')
    await userEvent.selectOptions(select('Titles'), 'Server default: Small')
    await expect.poll(() => own.size).toBe(0)
    expect(select('Titles').value).toBe('')
  })
  it('that are not on offer any more are shown as such, with what is done instead', async () => {
    own.set('models/compact_model', 'gone')
    await show([LARGE, DEMO])
    expect(select('Summaries').value).toBe('gone')
    expect(offeredIn('Summaries')).toContain('gone, not available any more')
    expect(screen.getByText(/That of the conversation does this instead/)).toBeTruthy()
  })
  it('are none where there is but the demo model, except to take one back', async () => {
    own.set('models/compact_model', 'gone')
    await show([DEMO])
    expect(screen.getAllByRole('combobox')).toHaveLength(1)
    await userEvent.selectOptions(select('Summaries'), 'Server default: the conversation’s')
    expect(await screen.findByText(/^The demo model does all of these itself/)).toBeTruthy()
    expect(screen.queryByRole('combobox')).toBeNull()
  })
  it('stay as they were where the server refuses, which is said', async () => {
    await show([LARGE], true)
    await userEvent.selectOptions(select('Titles'), 'Large')
    expect(await screen.findByRole('alert')).toBeTruthy()
    expect(select('Titles').value).toBe('')
  })
})
