// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen, within } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ref } from 'vue'
import type { ModelInfo, OptionsBody, Session, SettingBody } from '@/api/types'
import { useSessions } from '@/features/sessions'
import {
  switched,
  takenBackFor,
  thinkingChange,
  thinkingChoice,
  thinkingChoices,
  useModels,
  usePresets,
  useUserSettings,
} from '@/features/settings'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { aPreset } from '@/shared/testing/presets'
import OptionsMenu from './OptionsMenu.vue'
import { useChosen } from './useChosen'

beforeEach(() => setActivePinia(createPinia()))
afterEach(cleanup)

function model(thinking: ModelInfo['thinking']): ModelInfo {
  const is = {
    provider: 'p',
    is_demo: false,
    is_default: false,
    is_official: true,
    context_window: 1,
    notes: [],
    vision: false,
  }
  return { id: thinking, label: `Model ${thinking}`, thinking, ...is }
}

describe('options', () => {
  it('says each choice in the words of the wire, and reads it again', () => {
    for (const choice of thinkingChoices(null)) expect(thinkingChoice(thinkingChange(choice))).toBe(choice)
    expect(thinkingChoice({ enable_thinking: false, thinking_effort: 'max' })).toBe('off')
  })
  it('offers what the model can do, and takes back what another one can not', () => {
    expect(thinkingChoices(model('never'))).toEqual(['standard'])
    expect(thinkingChoices(model('always'))).not.toContain('off')
    expect(takenBackFor(model('never'), { enable_thinking: true })).toEqual(thinkingChange('standard'))
    expect(takenBackFor(model('always'), { enable_thinking: true, max_turns: 3 })).toEqual({})
  })
})

const alone = { sessionId: null, preset: null, save: () => Promise.resolve() }

describe('OptionsMenu', () => {
  it('shows what the preset chooses, and switches that off by a choice of its own', async () => {
    const changes: OptionsBody[] = []
    const preset = aPreset('careful', { options: { enable_approval: true, max_turns: 12 } })
    const props = { ...alone, preset, options: {}, model: null, onChange: (to: OptionsBody) => changes.push(to) }
    render(OptionsMenu, { props, global: { plugins: [i18n] } })
    await userEvent.click(screen.getByRole('button', { name: 'How the agent works here' }))
    expect(screen.getByRole('textbox', { name: 'Step limit of an answer' })).toHaveProperty('placeholder', '12')
    const asks = within(screen.getByRole('group', { name: 'Ask before changing anything' }))
    expect(asks.getByRole<HTMLInputElement>('radio', { name: 'Yes' }).checked).toBe(true)
    await userEvent.click(asks.getByRole('radio', { name: 'No' }))
    const plans = within(screen.getByRole('group', { name: /before I approve a plan/ }))
    await userEvent.click(plans.getByRole('radio', { name: 'Plan first' }))
    expect(changes).toEqual([{ enable_approval: false }, { enable_plan_mode: true }])
    expect([switched(false, true), switched(false, false), switched(true, true)]).toEqual([false, null, true])
  })
  it('says how much it thinks where the conversation leaves that to its preset, unless the model can’t', async () => {
    const preset = aPreset('deep', { options: { enable_thinking: true, thinking_effort: 'max' } })
    const props = { ...alone, preset, options: {}, model: null as ModelInfo | null }
    const { rerender } = render(OptionsMenu, { props, global: { plugins: [i18n] } })
    await userEvent.click(screen.getByRole('button', { name: 'How the agent works here' }))
    expect(screen.getByRole<HTMLInputElement>('radio', { name: 'Default: Max' }).checked).toBe(true)
    await rerender({ ...props, model: model('never') })
    expect(screen.getByRole<HTMLInputElement>('radio', { name: 'Default' }).checked).toBe(true)
  })
  it('shows what a person has as the default, below what the preset chooses', async () => {
    const own = { category: 'approvals', key: 'enable_approval', value: true, source: 'user' }
    const turns = { category: 'agent', key: 'max_turns', value: 7, source: 'user' }
    const ofServer = { category: 'approvals', key: 'denied_tools', value: ['think'], source: 'deployment' }
    useUserSettings().list = [own, turns, ofServer] as unknown as SettingBody[]
    const changes: OptionsBody[] = []
    const preset = aPreset('quick', { options: { max_turns: 12 } })
    const props = { ...alone, preset, options: {}, model: null, onChange: (to: OptionsBody) => changes.push(to) }
    render(OptionsMenu, { props, global: { plugins: [i18n] } })
    await userEvent.click(screen.getByRole('button', { name: 'How the agent works here' }))
    expect(screen.getByRole('textbox', { name: 'Step limit of an answer' })).toHaveProperty('placeholder', '12')
    expect(screen.getByRole('button', { name: 'Set rules' })).toBeTruthy()
    const asks = within(screen.getByRole('group', { name: 'Ask before changing anything' }))
    expect(asks.getByRole<HTMLInputElement>('radio', { name: 'Yes' }).checked).toBe(true)
    await userEvent.click(asks.getByRole('radio', { name: 'No' }))
    expect(changes).toEqual([{ enable_approval: false }])
  })
  it('says what is not as usual where the menu is closed', async () => {
    const props = { ...alone, options: {}, model: model('optional') }
    const { rerender } = render(OptionsMenu, { props, global: { plugins: [i18n] } })
    const menu = screen.getByRole('button', { name: 'How the agent works here' })
    expect(menu.title).toBe('How the agent works here')
    const usual = menu.innerHTML
    await rerender({ options: { enable_approval: true, thinking_effort: 'max', enable_thinking: true, max_turns: 7 } })
    expect(menu.title.split('\n')).toEqual([
      'How the agent works here',
      'Thinking: Max',
      'Ask before changing anything: Yes',
      'Step limit of an answer: 7',
    ])
    expect(menu.innerHTML).not.toBe(usual)
  })
  it('tells what is chosen, and changes one thing at a time', async () => {
    const changes: OptionsBody[] = []
    const props = {
      ...alone,
      options: { enable_thinking: true },
      model: model('optional'),
      onChange: (to: OptionsBody) => changes.push(to),
    }
    render(OptionsMenu, { props, global: { plugins: [i18n] } })
    await userEvent.click(screen.getByRole('button', { name: 'How the agent works here' }))
    expect(screen.getByRole<HTMLInputElement>('radio', { name: 'On' }).checked).toBe(true)
    await userEvent.click(screen.getByRole('radio', { name: 'Off' }))
    const turns = screen.getByRole('textbox', { name: 'Step limit of an answer' })
    await userEvent.type(turns, '0{Enter}')
    expect(screen.getByText('A whole number from 1 to 500, or nothing.')).toBeTruthy()
    await userEvent.clear(turns)
    await userEvent.type(turns, '7{Enter}')
    expect(changes).toEqual([{ enable_thinking: false, thinking_effort: null }, { max_turns: 7 }])
  })
})

describe('useChosen', () => {
  it('keeps what is chosen before the first message, and takes back what the next model can not do', async () => {
    const bodies: unknown[] = []
    startFakeServer({
      'POST /sessions': ({ body }) => {
        bodies.push(body)
        return json({ id: 's', options: {} } as Session)
      },
    })
    useModels().list = [model('optional'), model('never')]
    const chosen = useChosen(() => null)
    await chosen.change({ enable_thinking: true, thinking_effort: 'max' })
    await chosen.change({ max_turns: 4 })
    await chosen.pickModel('never')
    await chosen.create()
    const options = { enable_thinking: null, thinking_effort: null, max_turns: 4 }
    expect(bodies).toEqual([{ model: 'never', options }])
    expect(useSessions().byId.has('s')).toBe(true)
  })
  it('begins the next conversation with the model chosen last, and shows it in no other that has none', async () => {
    startFakeServer({
      'POST /sessions': () => json({ id: 's', model: 'never', options: {} } as Session),
      'PATCH /sessions/s': () => json({ id: 's', model: 'optional', options: {} } as Session),
    })
    useModels().list = [model('optional'), model('never')]
    useSessions().keep({ id: 'old', model: null, options: {} } as Session)
    const open = ref<string | null>(null)
    const chosen = useChosen(() => open.value)
    await chosen.pickModel('never')
    open.value = await chosen.create()
    await chosen.pickModel('optional')
    open.value = 'old'
    expect(chosen.model.value).toBeNull()
    open.value = null
    expect(chosen.model.value).toBe('optional')
  })
  it('begins with the preset that was chosen, and changes the one of a conversation', async () => {
    const server = startFakeServer({
      'POST /sessions': () =>
        json({ id: 's', options: { enable_thinking: true }, preset: 'quick' } as unknown as Session),
      'PATCH /sessions/s': () => json({ id: 's', options: {}, preset: 'usual' } as unknown as Session),
    })
    useModels().list = [model('optional'), model('never')]
    usePresets().list = [aPreset('usual', { is_default: true }), aPreset('quick', { model: 'never' })]
    const open = ref<string | null>(null)
    const chosen = useChosen(() => open.value)
    expect(chosen.preset.value).toBeNull()
    await chosen.change({ enable_thinking: true })
    await chosen.pickPreset('quick')
    expect(chosen.model.value).toBe('never')
    open.value = await chosen.create()
    const taken = { enable_thinking: null, thinking_effort: null }
    expect(server.calls.at(-1)?.body).toEqual({ preset: 'quick', options: taken })
    expect(chosen.preset.value).toBe('quick')
    await chosen.pickPreset('usual')
    expect(server.calls.at(-1)?.body).toEqual({ preset: 'usual', options: {} })
    open.value = null
    expect(chosen.preset.value).toBeNull()
  })
})
