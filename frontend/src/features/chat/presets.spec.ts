// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ModelInfo } from '@/api/types'
import { presetText, useModels, usePresets } from '@/features/settings'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { aPreset } from '@/shared/testing/presets'
import EmptyState from './EmptyState.vue'
import PresetPicker from './PresetPicker.vue'

const CHINESE = { label: '聊天', description: '没有电脑。', suggestions: [{ title: '说话', text: '说点什么' }] }
const offered = [
  aPreset('usual', { is_default: true }),
  aPreset('chat', { has_computer: false, translations: { zh: CHINESE } }),
]
const global = { plugins: [i18n] }

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})
function model(isDemo: boolean): ModelInfo {
  const is = {
    provider: 'p',
    is_default: true,
    is_official: true,
    context_window: 1,
    notes: [],
    vision: false,
    thinking: 'never' as const,
  }
  return { id: 'm', label: 'M', is_demo: isDemo, ...is }
}

describe('presets', () => {
  it('are found by name, and what is unknown is the default', async () => {
    startFakeServer({ 'GET /presets': () => json(offered) })
    const presets = usePresets()
    expect([presets.find('chat'), presets.hasComputer('chat')]).toEqual([null, true])
    await presets.load()
    expect(presets.find('chat')?.id).toBe('chat')
    expect([presets.find('gone')?.id, presets.find(null)?.id]).toEqual(['usual', 'usual'])
    expect([presets.hasComputer('chat'), presets.hasComputer(null)]).toEqual([false, true])
    startFakeServer({ 'GET /presets': () => problem(503, 'unavailable') })
    await presets.load()
    expect(presets.find('chat')?.id).toBe('chat')
    startFakeServer({ 'GET /presets': () => json([]) })
    await presets.retry()
    expect(presets.list).toEqual([])
  })
  it('speak the language of the page where they know it', () => {
    const [usual, chat] = offered as [(typeof offered)[0], (typeof offered)[0]]
    expect(presetText(chat, 'zh').label).toBe('聊天')
    const brief = { ...chat, translations: { zh: { ...CHINESE, suggestions: [] } } }
    expect(presetText(brief, 'zh')).toEqual({ ...CHINESE, suggestions: chat.suggestions })
    expect([presetText(chat, 'en').label, presetText(usual, 'zh').label]).toEqual(['Chat', 'Usual'])
  })
})
describe('EmptyState', () => {
  it('offers what fits the preset, which is chosen there', async () => {
    usePresets().list = offered
    useModels().list = [model(false)]
    const heard: string[] = []
    const props = { model: null, onPreset: (id: string) => heard.push(id), onPick: (text: string) => heard.push(text) }
    const { rerender } = render(EmptyState, { props: { ...props, preset: null }, global })
    expect(screen.getByRole<HTMLInputElement>('radio', { name: 'Usual' }).checked).toBe(true)
    expect(screen.getByText(/has a computer of its own/)).toBeTruthy()
    await userEvent.click(screen.getByRole('radio', { name: 'Chat' }))
    await rerender({ preset: 'chat' })
    expect(screen.getByText('What chat is for.')).toBeTruthy()
    expect(screen.queryByText(/has a computer of its own/)).toBeNull()
    await userEvent.click(screen.getByRole('button', { name: /Begin chat/ }))
    expect(heard).toEqual(['chat', 'Do chat'])
  })
  it('offers what the demo model has in its script, with a computer and without', async () => {
    usePresets().list = offered
    useModels().list = [model(true)]
    const { rerender } = render(EmptyState, { props: { model: null, preset: null }, global })
    expect(screen.getByRole('button', { name: /See it work/ })).toBeTruthy()
    await rerender({ preset: 'chat' })
    expect(screen.getByRole('button', { name: /Be asked something/ })).toBeTruthy()
    expect(screen.queryByRole('button', { name: /See it work/ })).toBeNull()
  })
  it('does without a choice where there is none', () => {
    useModels().list = [model(false)]
    render(EmptyState, { props: { model: null, preset: null }, global })
    expect(screen.queryByRole('radio')).toBeNull()
  })
})
describe('PresetPicker', () => {
  it('names the present one and changes it by keyboard', async () => {
    usePresets().list = offered
    const heard: string[] = []
    render(PresetPicker, { props: { preset: 'gone', onPick: (id: string) => heard.push(id) }, global })
    screen.getByRole('button', { name: 'Preset: Usual' }).focus()
    await userEvent.keyboard('{Enter}')
    expect(screen.getByRole('menuitemradio', { name: /Usual/, checked: true })).toBeTruthy()
    await userEvent.click(screen.getByRole('menuitemradio', { name: /Chat/ }))
    expect(heard).toEqual(['chat'])
  })
})
