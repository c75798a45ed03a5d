// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { routerAt } from '@/shared/testing/routerAt'
import SettingsDialog from './SettingsDialog.vue'
import { useSettingsPage } from './settingsPage'
import type { SettingsPageId } from './pages'

const skill = { name: 'explain', description: 'Explains.', source: 'user', replaces: null, origin: 'user' }
const baker = { name: 'baker', description: 'Bakes.', prompt: 'Bake.', tools: null, only_reads: false, model: null }

// The code of a page comes when it is first shown; here each wait is for what people do.
beforeAll(() =>
  Promise.all([
    import('./AgentsPage.vue'),
    import('./McpPage.vue'),
    import('./SchedulesPage.vue'),
    import('./MemoriesPage.vue'),
    import('./ModelsPage.vue'),
    import('@/features/skills'),
  ]),
)
beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

async function show(page: SettingsPageId): Promise<void> {
  startFakeServer({
    'GET /agents': () => json([{ ...baker, source: 'user', is_hidden: false }]),
    'GET /models': () => json([]),
    'GET /tools': () => json([]),
    'GET /presets': () => json([]),
    'GET /mcp': () => json([]),
    'GET /schedules': () => json({ items: [] }),
    'GET /skills': () => json([skill]),
    'GET /settings': () => json([]),
    'GET /memories': () => json({ is_enabled: true, items: [], size: 0, max_size: 65536, max_file_size: 4096 }),
  })
  render(SettingsDialog, { global: { plugins: [i18n, await routerAt('/')] } })
  useSettingsPage().show(page)
}
const question = () => screen.queryByRole('alertdialog', { name: 'Discard changes?' })
const press = async (name: string): Promise<void> => userEvent.click(await screen.findByRole('button', { name }))

const forms = [
  ['agents', 'Add an agent', 'Name'],
  ['mcp', 'Add a server', 'Name'],
  ['schedules', 'New schedule', 'What the agent is told'],
  ['memories', 'New memory', 'Text'],
  ['skills', null, /address/i],
] as const
const ways = [
  ['another tab', () => userEvent.click(screen.getByRole('tab', { name: 'Usage' }))],
  ['the X', () => press('Close')],
  ['Esc', () => userEvent.keyboard('{Escape}')],
] as const

describe('what was changed in a form of the settings', () => {
  it.each(forms.flatMap((form) => ways.map((way) => [...form, ...way] as const)))(
    'on the page of %s (%s, %s) is kept until the person says that it may go by %s',
    async (page, opens, label, _way, leave) => {
      await show(page)
      if (opens) await press(opens)
      const field = await screen.findByLabelText<HTMLInputElement>(label)
      await userEvent.type(field, 'abc')
      await leave()
      expect(question()).toBeTruthy()
      await press('Keep editing')
      await vi.waitFor(() => expect(question()).toBeNull())
      expect([field.isConnected, field.value]).toEqual([true, 'abc'])
      await vi.waitFor(() => expect(document.activeElement).toBe(field))
      await leave()
      await press('Discard')
      await vi.waitFor(() => expect(field.isConnected).toBe(false))
      expect(question()).toBeNull()
    },
  )
  it('is not asked about where nothing was changed, nor by Cancel', async () => {
    await show('agents')
    await press('Edit baker')
    const field = await screen.findByLabelText('Instructions')
    await userEvent.type(field, '!{Backspace}{Escape}')
    expect([question(), field.isConnected]).toEqual([null, false])
    await press('Edit baker')
    await userEvent.type(await screen.findByLabelText('Instructions'), '!')
    await press('Cancel')
    expect(question()).toBeNull()
    expect(screen.queryByLabelText('Instructions')).toBeNull()
  })
  it('may also be a key that is not saved yet', async () => {
    await show('models')
    const [field] = await screen.findAllByLabelText<HTMLInputElement>('Key')
    await userEvent.type(field!, 'sk-1')
    await userEvent.keyboard('{Escape}')
    expect(question()).toBeTruthy()
    await press('Keep editing')
    expect(field?.value).toBe('sk-1')
  })
  it('is kept where another item is opened', async () => {
    await show('agents')
    await press('Add an agent')
    await userEvent.type(await screen.findByLabelText('Name'), 'abc')
    await press('Edit baker')
    expect(question()).toBeTruthy()
    await press('Discard')
    expect(await screen.findByRole('form', { name: /baker/ })).toBeTruthy()
    expect(screen.queryByLabelText('Name')).toBeNull()
  })
})
