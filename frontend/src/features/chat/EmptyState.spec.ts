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
  it('says that there is no computer only where there is none', () => {
    useModels().list = [real]
    usePresets().list = [aPreset('chat', { is_default: true, has_computer: false })]
    for (const [isComputerThere, said] of [
      [false, 'It has no computer here'],
      [true, 'With this preset it does not use the computer'],
    ] as const) {
      const props = { preset: 'chat', model: null, isComputerThere }
      const { container, unmount } = render(EmptyState, { props, global: { plugins: [i18n] } })
      expect(container.textContent).toContain(said)
      unmount()
    }
  })
  it('offers examples of the preset', () => {
    useModels().list = [demo]
    usePresets().list = [aPreset('general', { is_default: true }), aPreset('research'), aPreset('writing')]
    for (const [preset, texts] of [
      ['research', ['Search papers about neural networks', 'Research how machines learned language']],
      ['writing', ['Draft a report about green tea', 'Outline an article about green tea', 'Show me a revision']],
    ] as const) {
      const { container, unmount } = render(EmptyState, { props: { preset, model: null }, global: { plugins: [i18n] } })
      for (const text of texts) expect(container.textContent).toContain(text)
      expect(container.querySelectorAll('ul > li')).toHaveLength(3)
      expect(screen.queryByRole('button', { name: 'More examples' })).toBeNull()
      unmount()
    }
  })
})

it('says in which folder the conversation will stand', () => {
  useModels().list = [demo]
  usePresets().list = [aPreset('general', { is_default: true })]
  const folder = { id: 'w', name: 'Work', instructions: '', created_at: '' }
  render(EmptyState, { props: { preset: null, model: null, folder }, global: { plugins: [i18n] } })
  expect(screen.getByText(/in the folder “Work”/)).toBeTruthy()
})
