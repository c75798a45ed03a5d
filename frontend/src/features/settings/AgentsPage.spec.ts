// @vitest-environment happy-dom
import userEvent from '@testing-library/user-event'
import { cleanup, render, screen, within } from '@testing-library/vue'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AgentKind } from '@/api/types'
import { i18n, setLanguage } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { rulesIn, toggledRule } from './agents'
import AgentsPage from './AgentsPage.vue'

const explore: AgentKind = {
  name: 'explore',
  description: 'only looks, and reports',
  prompt: 'You look.',
  tools: null,
  only_reads: true,
  model: null,
  max_calls: null,
  max_tokens: null,
  max_minutes: null,
  source: 'product',
  is_hidden: false,
}
const baker: AgentKind = {
  ...explore,
  name: 'baker',
  description: 'Bakes.',
  prompt: 'Bake.\nWait.',
  tools: ['file_*'],
  only_reads: false,
  model: 'gone-model',
  source: 'user',
}

beforeEach(() => setActivePinia(createPinia()))
afterEach(async () => {
  cleanup()
  vi.unstubAllGlobals()
  await setLanguage('en')
})

function show(list: AgentKind[], answers: Parameters<typeof startFakeServer>[0] = {}) {
  const server = startFakeServer({
    'GET /agents': () => json(list),
    'GET /models': () => json([{ id: 'small', label: 'Small', is_default: true, is_demo: false }]),
    'GET /tools': () => json([{ name: 'file_read' }, { name: 'web_search' }]),
    ...answers,
  })
  render(AgentsPage, { global: { plugins: [i18n] } })
  return server
}
/** What is wrong with a field, as it is read with it. */
const told = (field: HTMLElement): string | null =>
  field.getAttribute('aria-invalid') === 'true'
    ? (document.getElementById(field.getAttribute('aria-describedby') ?? '')?.textContent ?? null)
    : null
const sent = (server: ReturnType<typeof show>, method: string) =>
  server.calls.filter((one) => one.method === method).map(({ path, body }) => ({ path, body }))

describe('the page of agents', () => {
  it('lists all with whose they are; those of everybody are read only', async () => {
    show([explore, { ...baker, name: 'miller', source: 'deployment' }, baker])
    const [first, second, own] = (await screen.findAllByRole('listitem')) as [HTMLElement, HTMLElement, HTMLElement]
    expect(first.textContent).toMatch(/explore.*built in.*Only looks, and reports\./)
    expect(second.textContent).toMatch(/miller.*of this server/)
    for (const row of [first, second]) expect(within(row).getAllByRole('button')).toHaveLength(1)
    expect(within(own).getByRole('button', { name: 'Edit baker' })).toBeTruthy()
    await userEvent.click(within(first).getByRole('button'))
    expect(first.textContent).toContain('Only tools that change nothing.')
  })
  it('sets the instructions of a kind as Markdown, with what can’t be seen written out', async () => {
    show([{ ...explore, prompt: 'You look.\n\n- and **report**\u202E' }])
    const row = await screen.findByRole('listitem')
    await userEvent.click(within(row).getByRole('button'))
    expect(within(row).getByRole('listitem').textContent).toBe('and report⟨U+202E⟩')
  })
  it('adds one by the keyboard alone, with tools by name and glob and a model, and gives the focus back', async () => {
    const list = [explore]
    const server = show(list, {
      'PUT /agents/baker': ({ body }) => {
        list.push({ ...baker, ...(body as object) })
        return json(baker)
      },
    })
    await screen.findByText('explore')
    screen.getByRole('button', { name: 'Add an agent' }).focus()
    await userEvent.keyboard('{Enter}')
    expect(document.activeElement).toBe(screen.getByLabelText('Name'))
    await userEvent.keyboard('baker{Tab}Bakes.{Tab}Bake.{Tab}')
    await userEvent.selectOptions(screen.getByLabelText('Tools'), 'Only some of these')
    await userEvent.type(screen.getByLabelText('Names of tools'), 'file_*')
    await userEvent.click(await screen.findByRole('button', { name: 'web_search' }))
    expect(screen.getByRole('button', { name: 'file_read' }).getAttribute('aria-pressed')).toBe('true')
    await userEvent.selectOptions(screen.getByLabelText('Model'), 'Small')
    screen.getByRole('button', { name: 'Save' }).focus()
    await userEvent.keyboard('{Enter}')
    expect((await screen.findByText(/baker is saved/)).textContent).toContain('next message')
    const limits = { max_calls: null, max_tokens: null, max_minutes: null }
    const body = { description: 'Bakes.', prompt: 'Bake.', tools: ['file_*', 'web_search'], model: 'small', ...limits }
    expect(sent(server, 'PUT')).toEqual([{ path: '/agents/baker', body }])
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Add an agent' }))
    expect(await screen.findAllByRole('listitem')).toHaveLength(2)
  })
  it('keeps the limits of one that is edited, sends those that are changed and refuses what is none', async () => {
    const server = show([{ ...baker, max_calls: 40, max_minutes: 1 }], { 'PUT /agents/baker': () => json(baker) })
    const row = await screen.findByRole('listitem')
    await userEvent.click(within(row).getByRole('button', { name: /^baker/ }))
    expect(row.textContent).toContain('At most: 40 calls, 1 minute.')
    await userEvent.click(screen.getByRole('button', { name: 'Edit baker' }))
    for (const [written, words] of [
      ['many', /whole number from 1 to 25/],
      ['26', /whole number from 1 to 25/],
    ] as const) {
      await userEvent.clear(screen.getByLabelText('Minutes'))
      await userEvent.type(screen.getByLabelText('Minutes'), written)
      await userEvent.click(screen.getByRole('button', { name: 'Save' }))
      expect(told(screen.getByLabelText('Minutes'))).toMatch(words)
    }
    await userEvent.clear(screen.getByLabelText('Minutes'))
    await userEvent.type(screen.getByLabelText('Tokens'), '50000')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await screen.findByText(/baker is saved/)
    expect(sent(server, 'PUT')[0]?.body).toMatchObject({ max_calls: 40, max_tokens: 50_000, max_minutes: null })
  })
  it('says in the form what is missing or refused, and keeps what was written', async () => {
    const server = show([explore], { 'PUT /agents/baker': () => problem(409, 'too_many_agents', 'As many as may be.') })
    await userEvent.click(await screen.findByRole('button', { name: 'Add an agent' }))
    const save = screen.getByRole('button', { name: 'Save' })
    for (const [name, words] of [
      ['Baker', /characters a-z/],
      ['explore', /There is an agent explore already/],
      ['main', /There is an agent main already/],
    ] as const) {
      await userEvent.clear(screen.getByLabelText('Name'))
      await userEvent.type(screen.getByLabelText('Name'), name)
      await userEvent.click(save)
      expect(screen.getAllByRole('alert')).toHaveLength(3)
      expect(screen.getByLabelText('Name')).toBe(document.activeElement)
      expect(told(screen.getByLabelText('Name'))).toMatch(words)
    }
    await userEvent.clear(screen.getByLabelText('Name'))
    await userEvent.type(screen.getByLabelText('Name'), 'baker')
    await userEvent.click(save)
    expect(screen.getByLabelText('What it is for')).toBe(document.activeElement)
    expect(told(screen.getByLabelText('What it is for'))).toBe('Say in a line what it is for.')
    expect(told(screen.getByLabelText('Instructions'))).toMatch(/^Say how it works/)
    expect(sent(server, 'PUT')).toEqual([])
    await userEvent.type(screen.getByLabelText('What it is for'), 'Bakes.')
    await userEvent.type(screen.getByLabelText('Instructions'), 'Bake.')
    await userEvent.click(save)
    expect((await screen.findByRole('alert')).textContent).toContain('As many as may be.')
    expect((screen.getByLabelText('Instructions') as HTMLTextAreaElement).value).toBe('Bake.')
  })
  it('says at its field what the server refuses of it, and below where it is not in the form', async () => {
    let field = 'body.tools.0'
    const refusal = () => ({ code: 'invalid', detail: '', errors: [{ field, message: 'No such tool.', code: 'x' }] })
    show([baker], { 'PUT /agents/baker': () => new Response(JSON.stringify(refusal()), { status: 422 }) })
    await userEvent.click(await screen.findByRole('button', { name: 'Edit baker' }))
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect((await screen.findByRole('alert')).textContent.trim()).toBe('No such tool.')
    expect(told(screen.getByLabelText('Names of tools'))).toBe('No such tool.')
    expect(screen.getByLabelText('Names of tools')).toBe(document.activeElement)
    field = 'body.source'
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await vi.waitFor(() => expect(told(screen.getByLabelText('Names of tools'))).toBeNull())
    expect((await screen.findByRole('alert')).textContent.trim()).toBe('No such tool.')
  })
  it('is refused with some tools alone of which none is named', async () => {
    const server = show([baker], { 'PUT /agents/baker': () => json(baker) })
    await userEvent.click(await screen.findByRole('button', { name: 'Edit baker' }))
    const names = screen.getByLabelText('Names of tools')
    await userEvent.clear(names)
    await userEvent.type(names, ' ,')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    expect(told(names)).toBe('Name at least one tool, or choose all.')
    expect(sent(server, 'PUT')).toEqual([])
    await userEvent.selectOptions(screen.getByLabelText('Tools'), 'All that the main agent may use.')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await vi.waitFor(() => expect(sent(server, 'PUT')).toMatchObject([{ body: { tools: null } }]))
  })
  it('edits one without widening what it has, and Escape leaves it as it is', async () => {
    const bare = { ...baker, tools: [] }
    const server = show([bare], { 'PUT /agents/baker': () => json(bare) })
    await userEvent.click(await screen.findByRole('button', { name: 'Edit baker' }))
    expect(document.activeElement).toBe(screen.getByLabelText('What it is for'))
    expect((screen.getByLabelText('Model') as HTMLSelectElement).selectedOptions[0]?.text).toContain('gone-model')
    await userEvent.keyboard('{Escape}')
    expect(sent(server, 'PUT')).toEqual([])
    const edit = screen.getByRole('button', { name: 'Edit baker' })
    expect(document.activeElement).toBe(edit)
    await userEvent.click(edit)
    await userEvent.selectOptions(screen.getByLabelText('Model'), 'The one for sub-agents')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await screen.findByText(/baker is saved/)
    expect(sent(server, 'PUT')[0]?.body).toMatchObject({
      description: 'Bakes.',
      prompt: 'Bake.\nWait.',
      tools: [],
      model: null,
    })
  })
  it('deletes one only after it was asked, and says so', async () => {
    const list = [explore, baker]
    const server = show(list, {
      'DELETE /agents/baker': () => {
        list.pop()
        return new Response(null, { status: 204 })
      },
    })
    await userEvent.click(await screen.findByRole('button', { name: 'Delete baker' }))
    expect(sent(server, 'DELETE')).toEqual([])
    await userEvent.click(screen.getByRole('button', { name: 'Delete agent' }))
    await screen.findByText('baker was deleted.')
    expect(screen.getAllByRole('listitem')).toHaveLength(1)
  })
  it('says it in the language of the page, offers to try again, and marks one that another of its name hides', async () => {
    await setLanguage('zh')
    let fails = true
    show([], {
      'GET /agents': () => (fails ? problem(503, 'unavailable') : json([explore, { ...baker, is_hidden: true }])),
    })
    const again = await screen.findByRole('button', { name: '重试' })
    fails = false
    await userEvent.click(again)
    expect(await screen.findByText('只查看并报告。')).toBeTruthy()
    expect(screen.getByText(/会改用它/)).toBeTruthy()
  })
})

describe('names of tools', () => {
  it('are read as people write them, and put in and taken out', () => {
    expect(rulesIn(' file_*, web_search，think、think\n')).toEqual(['file_*', 'web_search', 'think'])
    expect(toggledRule('file_*', 'think')).toBe('file_*, think')
    expect(toggledRule('file_*, think', 'think')).toBe('file_*')
  })
})
