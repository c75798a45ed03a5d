// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ModelInfo } from '@/api/types'
import { useModels } from '@/features/settings'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import ModelPicker from './ModelPicker.vue'

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
  i18n.global.locale.value = 'en'
})

const is = {
  is_default: true,
  is_official: true,
  context_window: 1,
  notes: [],
  vision: false,
  thinking: 'never' as const,
}
const demo: ModelInfo = { ...is, id: 'demo', label: 'Demo model', provider: 'demo', is_demo: true }
const real: ModelInfo = { ...is, id: 'm', label: 'Model M', provider: 'openai', is_demo: false }

async function open(model: ModelInfo, hasBegun: boolean): Promise<string[]> {
  useModels().list = [model]
  render(ModelPicker, { props: { model: model.id, hasBegun }, global: { plugins: [i18n] } })
  await userEvent.click(screen.getByRole('button'))
  return screen.getAllByRole('menuitem').map((item) => item.textContent.trim())
}

describe('ModelPicker', () => {
  it('offers a real model where there is the demo model alone, and the keys where there is one', async () => {
    expect(await open(demo, false)).toEqual(['Demo modelA script, no key needed', 'Use a real model…'])
    expect(screen.queryByText(/the rest from the next answer on/)).toBeNull()
    cleanup()
    expect(await open(real, true)).toEqual(['Model MOpenAI', 'Models and keys…'])
    expect(screen.getByText(/the rest from the next answer on/)).toBeTruthy()
  })
  it('asks again for the models when it is opened after they could not be had', async () => {
    let isUp = false
    startFakeServer({ 'GET /models': () => (isUp ? json([demo, real]) : problem(503, 'unavailable')) })
    await useModels().load()
    isUp = true
    await open(demo, false)
    expect(await screen.findByRole('menuitem', { name: /Model M/ })).toBeTruthy()
  })
  it('names the provider, unless another service speaks its protocol', async () => {
    expect((await open({ ...real, is_official: false }, false))[0]).toBe('Model MOpenAI-compatible service')
  })
  it('shows by an arrow that it opens, on a phone too', () => {
    render(ModelPicker, { props: { model: 'm', hasBegun: false }, global: { plugins: [i18n] } })
    const arrow = screen.getByRole('button').querySelector('svg.lucide-chevron-down')
    expect(arrow?.getAttribute('class')).not.toMatch(/max-phone:hidden|phone:/)
    expect(arrow).toBeTruthy()
  })
  it('calls the demo model as the page calls it, in its language', async () => {
    i18n.global.locale.value = 'zh'
    expect((await open(demo, true))[0]).toBe('演示模型一段脚本，不需要密钥')
    cleanup()
    render(ModelPicker, { props: { model: 'demo', hasBegun: false }, global: { plugins: [i18n] } })
    expect(screen.getByRole('button', { name: '模型：演示模型' })).toBeTruthy()
  })
})
