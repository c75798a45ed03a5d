// @vitest-environment jsdom
import { render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { useModels, usePresets } from '@/features/settings'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { aPreset } from '@/shared/testing/presets'
import EmptyState from './EmptyState.vue'

const is = {
  is_default: true,
  is_official: true,
  context_window: 1,
  notes: [],
  vision: false,
  thinking: 'optional' as const,
}
const demo = { ...is, id: 'demo', label: 'Demo model', provider: 'demo', is_demo: true }
const real = { ...is, id: 'real', label: 'Real', provider: 'p', is_demo: false }

beforeEach(() => setActivePinia(createPinia()))

describe('EmptyState', () => {
  it('shows no example before it is known which model it would be for', async () => {
    startFakeServer({
      'GET /models': () => json([real]),
      'GET /presets': () => json([aPreset('general', { is_default: true })]),
    })
    render(EmptyState, { props: { preset: null, model: null }, global: { plugins: [i18n] } })
    expect(screen.queryByRole('button')).toBeNull()
    await useModels().load()
    expect(screen.queryByRole('button')).toBeNull()
    await usePresets().load()
    expect((await screen.findByRole('button')).textContent).toContain('Do general')
    vi.unstubAllGlobals()
  })
  it('begins an example with the options that it shows', async () => {
    useModels().list = [demo]
    usePresets().list = [aPreset('general', { is_default: true })]
    const { emitted } = render(EmptyState, {
      props: { preset: null, model: null },
      global: { plugins: [i18n] },
    })
    await userEvent.click(screen.getByRole('button', { name: 'More examples' }))
    expect(document.activeElement).toBe(screen.getByRole('button', { name: /Plan a herb garden/ }))
    await userEvent.click(screen.getByRole('button', { name: /Run df -h/ }))
    await userEvent.click(screen.getByRole('button', { name: /Think about green tea/ }))
    await userEvent.click(screen.getByRole('button', { name: /Plan a herb garden/ }))
    expect(emitted('pick')).toEqual([
      ['Run df -h', { enable_approval: true }],
      ['Think about green tea', { enable_thinking: true, thinking_effort: 'high' }],
      ['Plan a herb garden', {}],
    ])
  })
})

it('says in which folder the conversation will stand', () => {
  useModels().list = [demo]
  usePresets().list = [aPreset('general', { is_default: true })]
  const folder = { id: 'w', name: 'Work', instructions: '', created_at: '' }
  render(EmptyState, { props: { preset: null, model: null, folder }, global: { plugins: [i18n] } })
  expect(screen.getByText(/in the folder “Work”/)).toBeTruthy()
})
