// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { SettingBody, ToolInfo } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import DefaultsPage from './DefaultsPage.vue'
import { useUserSettings } from './userSettings'

const SERVER: Record<string, unknown> = {
  'agent/enable_thinking': null,
  'agent/thinking_effort': 'high',
  'agent/max_turns': 100,
  'approvals/enable_approval': false,
  'approvals/denied_tools': null,
  'approvals/asked_tools': null,
  'approvals/allowed_tools': null,
}
let own: Map<string, unknown>

beforeEach(() => {
  own = new Map()
  setActivePinia(createPinia())
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function shown(name: string): SettingBody {
  const [category = '', key = ''] = name.split('/')
  const source = own.has(name) ? 'user' : 'deployment'
  return { category, key, value: own.get(name) ?? SERVER[name], source } as SettingBody
}
async function show() {
  const routes = Object.keys(SERVER).map((name) => ({
    [`PUT /settings/${name}`]: ({ body }: { body: unknown }) => {
      own.set(name, (body as { value: unknown }).value)
      return json(shown(name))
    },
    [`DELETE /settings/${name}`]: () => {
      own.delete(name)
      return json(shown(name))
    },
  }))
  const server = startFakeServer({
    'GET /settings': () => json(Object.keys(SERVER).map(shown)),
    'GET /tools': () => json([{ name: 'shell_exec', description: 'Runs.', read_only: false }] as ToolInfo[]),
    ...Object.assign({}, ...routes),
  })
  render(DefaultsPage, { global: { plugins: [i18n] } })
  await screen.findByRole('group', { name: 'Thinking' })
  return server
}
const choice = (group: string, name: string) =>
  within(screen.getByRole('group', { name: group })).getByRole<HTMLInputElement>('radio', { name })
const turns = () => screen.getByRole<HTMLInputElement>('textbox', { name: 'Step limit of an answer' })
const back = (name: string) => screen.findByRole('button', { name: `Go back to the server’s: ${name}` })

describe('the page of defaults', () => {
  it('shows what the server has, keeps what is chosen, and goes back', async () => {
    await show()
    expect(choice('Ask before changing anything', 'No').checked).toBe(true)
    expect(turns().placeholder).toBe('100')
    expect(screen.getAllByText('As the server has it')).toHaveLength(3)
    expect(screen.getByText('As the model does by itself')).toBeTruthy()

    await userEvent.click(choice('Ask before changing anything', 'Yes'))
    await back('Ask before changing anything')
    await userEvent.click(choice('Thinking', 'Max'))
    await back('Thinking')
    await userEvent.type(turns(), '7{Enter}')
    await back('Step limit of an answer')
    expect(Object.fromEntries(own)).toEqual({
      'approvals/enable_approval': true,
      'agent/thinking_effort': 'max',
      'agent/enable_thinking': true,
      'agent/max_turns': 7,
    })
    expect(useUserSettings().options).toEqual({
      enable_approval: true,
      thinking_effort: 'max',
      enable_thinking: true,
      max_turns: 7,
    })
    await userEvent.click(choice('Thinking', 'Off'))
    await expect.poll(() => own.get('agent/enable_thinking')).toBe(false)
    expect(own.has('agent/thinking_effort')).toBe(false)
    for (const name of ['Ask before changing anything', 'Thinking', 'Step limit of an answer'])
      await userEvent.click(await back(name))
    await expect.poll(() => own.size).toBe(0)
    expect(choice('Ask before changing anything', 'No').checked).toBe(true)
    expect([turns().value, turns().placeholder]).toEqual(['', '100'])
  })
  it('sets rules for tools, and takes the last one back', async () => {
    await show()
    await userEvent.click(screen.getByRole('button', { name: 'Set rules' }))
    const rule = await screen.findByRole('combobox', { name: 'Rule for shell_exec' })
    await userEvent.selectOptions(rule, 'Never')
    await expect.poll(() => own.get('approvals/denied_tools')).toEqual(['shell_exec'])
    await userEvent.selectOptions(rule, 'As usual')
    await expect.poll(() => own.size).toBe(0)
  })
  it('refuses a wrong number and says what the server refused', async () => {
    await show()
    await userEvent.type(turns(), '0{Enter}')
    expect(turns().getAttribute('aria-invalid')).toBe('true')
    expect(screen.getByText('A whole number from 1 to 500, or nothing.')).toBeTruthy()
    startFakeServer({ 'PUT /settings/approvals/enable_approval': () => problem(503, 'unavailable', 'Not now.') })
    await userEvent.click(choice('Ask before changing anything', 'Yes'))
    expect(await screen.findByRole('alert')).toBeTruthy()
    await expect.poll(() => choice('Ask before changing anything', 'No').checked).toBe(true)
    expect(own.size).toBe(0)
  })
})
