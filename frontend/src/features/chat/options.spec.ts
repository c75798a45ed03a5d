// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, describe, expect, it } from 'vitest'
import type { ModelInfo, OptionsBody, Session } from '@/api/types'
import { useSessions } from '@/features/sessions'
import { useModels } from '@/features/settings'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { takenBackFor, thinkingChange, thinkingChoice, thinkingChoices, turnsWritten } from './options'
import OptionsMenu from './OptionsMenu.vue'
import { useChosen } from './useChosen'

afterEach(cleanup)

function model(thinking: ModelInfo['thinking']): ModelInfo {
  const is = { provider: 'p', is_demo: false, is_default: false, context_window: 1, notes: [], vision: false }
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
  it('reads a number of steps', () => {
    expect(['', '7', '0', '501', '1.5', 'x'].map(turnsWritten)).toEqual([
      null,
      7,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('OptionsMenu', () => {
  it('tells what is chosen, and changes one thing at a time', async () => {
    const changes: OptionsBody[] = []
    const props = {
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
    setActivePinia(createPinia())
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
})
