// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import DefaultModel from './DefaultModel.vue'
import { useModels } from './models'

const DEMO = { id: 'demo', label: 'Demo', is_demo: true, is_default: true, is_official: true }
const LARGE = { id: 'large', label: 'Large', is_demo: false, is_default: false, is_official: true }

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

async function show(models: object[]): Promise<HTMLSelectElement> {
  startFakeServer({ 'GET /settings': () => json([]), 'GET /models': () => json(models) })
  await useModels().load()
  render(DefaultModel, { global: { plugins: [i18n] } })
  return screen.getByLabelText('Model for new conversations')
}

it('can’t be changed where there is one model alone, and says why', async () => {
  const select = await show([DEMO])
  expect(select.disabled).toBe(true)
  const told = document.getElementById(select.getAttribute('aria-describedby') ?? '')
  expect(told?.textContent).toBe('There is no other model to choose.')
})

it('offers others where there are some', async () => {
  const select = await show([DEMO, LARGE])
  expect(select.disabled).toBe(false)
  expect(screen.queryByText('There is no other model to choose.')).toBeNull()
})
