// @vitest-environment happy-dom
import { cleanup, render, screen, within } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { KeptResource, TaskInfo, WireEvent } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { addressOf, keptOf, withKept } from './kept'
import ResourcesPanel from './ResourcesPanel.vue'

const about = { added_by: 'agent', updated_at: '2026-01-01T00:00:00Z', version: 1 } as const
const paper: KeptResource = {
  ...about,
  kind: 'paper',
  id: 'p1',
  title: 'Trees',
  link: 'https://doi.org/10.1/x',
  characters: 0,
}
const note: KeptResource = { ...about, kind: 'note', id: 'n1', title: 'Known', link: '', characters: 12 }
const file: KeptResource = { ...about, kind: 'file', id: 'f1', title: 'Table', link: 'results/t.csv', characters: 0 }
const task = (id: string, more: Partial<TaskInfo> = {}): TaskInfo => ({
  ...{ id, subject: `part ${id}`, description: '', active_form: '', status: 'pending', owner: '' },
  ...{ blocked_by: [], blocks: [], metadata: {}, priority: 'normal' },
  ...more,
})

beforeEach(() => localStorage.clear())
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show(props: { tasks?: TaskInfo[]; kept?: KeptResource[] } = {}) {
  const showFile = vi.fn()
  render(ResourcesPanel, {
    props: { sessionId: 's', tasks: [], kept: [], showFile, ...props },
    global: { plugins: [i18n, createPinia()] },
  })
  return showFile
}

describe('what is kept with a conversation', () => {
  it('leaves ports and what a newer server tells of to others', () => {
    const resources = [paper, { kind: 'port', id: 'x' }, { kind: 'dream', id: 'y' }]
    expect(keptOf(resources)).toEqual([paper])
    expect(withKept([note], { type: 'resources.updated', resources } as unknown as WireEvent)).toEqual([paper])
    expect(withKept([note], { type: 'notice' } as unknown as WireEvent)).toEqual([note])
  })

  it.each(['javascript:alert(1)', 'JAVASCRIPT:alert(1)', 'data:text/html,x', '//example.org', ''])(
    'opens nothing of %s',
    (link) => {
      expect(addressOf({ kind: 'page', link })).toBeNull()
    },
  )

  it('opens a paper at its address, a file in the panel of files, and shows the text of a note', async () => {
    startFakeServer({ 'GET /sessions/s/resources/n1': () => json({ ...note, content: 'Trees **drink**.' }) })
    const showFile = show({ kept: [paper, note, file] })
    const link = screen.getByRole<HTMLAnchorElement>('link', { name: 'Trees' })
    expect([link.href, link.rel]).toEqual(['https://doi.org/10.1/x', 'noopener noreferrer'])
    await userEvent.click(screen.getByRole('button', { name: 'Table' }))
    expect(showFile).toHaveBeenCalledWith('results/t.csv')
    await userEvent.click(screen.getByRole('button', { name: 'Show text of Known' }))
    expect(await screen.findByText('drink')).toBeTruthy()
  })

  it('keeps a half-typed task over a reload and asks nothing of who leaves', async () => {
    startFakeServer({
      'POST /sessions/s/tasks': () => json(task('2'), 201),
      'PATCH /sessions/s/tasks/1': () => json(task('1')),
    })
    const again = (): void => {
      const leaving = new Event('beforeunload', { cancelable: true })
      window.dispatchEvent(leaving)
      expect(leaving.defaultPrevented).toBe(false)
      cleanup()
      show({ tasks: [task('1')] })
    }
    const value = (name: string): string => screen.getByRole<HTMLInputElement>('textbox', { name }).value
    show({ tasks: [task('1')] })
    await userEvent.type(screen.getByRole('textbox', { name: 'Task' }), 'Read the half')
    again()
    expect(value('Task')).toBe('Read the half')
    await userEvent.click(screen.getByRole('button', { name: 'Add task' }))
    await vi.waitFor(() => expect(value('Task')).toBe(''))
    again()
    expect(value('Task')).toBe('')
    expect(Object.keys(localStorage)).toEqual([])
  })

  it('is added, and what the server refuses is told beside it', async () => {
    let answer = () => problem(409, 'too_many_resources')
    const server = startFakeServer({ 'POST /sessions/s/resources': () => answer() })
    show()
    await userEvent.click(screen.getByRole('button', { name: 'Add resource' }))
    const form = screen.getByRole('form', { name: 'Add resource' })
    await userEvent.type(within(form).getByLabelText('Title'), ' Trees {Enter}')
    expect((await screen.findByRole('alert')).textContent).toMatch(/keeps as much as it may/)
    answer = () => json(paper, 201)
    await userEvent.selectOptions(within(form).getByLabelText('Kind'), 'note')
    await userEvent.type(within(form).getByLabelText('Text (Markdown)'), 'Drink')
    await userEvent.click(within(form).getByRole('button', { name: 'Save' }))
    expect(await screen.findByText('Added.')).toBeTruthy()
    expect(server.calls.at(-1)?.body).toEqual({ title: 'Trees', kind: 'note', link: '', content: 'Drink' })
    expect(document.activeElement?.textContent).toContain('Add resource')
  })

  it('is edited as it was read, and removed', async () => {
    const server = startFakeServer({
      'GET /sessions/s/resources/n1': () => json({ ...note, content: 'old' }),
      'PATCH /sessions/s/resources/n1': () => problem(412, 'resource_changed'),
      'DELETE /sessions/s/resources/n1': () => new Response(null, { status: 204 }),
    })
    show({ kept: [note] })
    await userEvent.click(screen.getByRole('button', { name: 'Edit Known' }))
    const form = await screen.findByRole('form', { name: 'Edit resource' })
    await userEvent.type(within(form).getByLabelText('Title'), ' better{Enter}')
    expect((await screen.findByRole('alert')).textContent).toMatch(/was changed since/)
    expect(server.calls.at(-1)?.body).toMatchObject({ title: 'Known better', version: 1, content: 'old' })
    await userEvent.keyboard('{Escape}')
    await userEvent.click(await screen.findByRole('button', { name: 'Discard' }))
    await userEvent.click(await screen.findByRole('button', { name: 'Remove Known' }))
    expect(await screen.findByText('Removed: Known')).toBeTruthy()
  })
})

describe('the tasks of a conversation', () => {
  it('are ticked off and opened again, and stay as they were where the server refuses', async () => {
    let answer = () => json(task('1'))
    const server = startFakeServer({ 'PATCH /sessions/s/tasks/1': () => answer() })
    show({ tasks: [task('1'), task('2', { priority: 'high', blocked_by: ['1'] })] })
    const box = screen.getByRole<HTMLInputElement>('checkbox', { name: 'Done: part 1' })
    await userEvent.click(box)
    await vi.waitFor(() => expect(server.calls.at(-1)?.body).toEqual({ status: 'completed' }))
    expect(screen.getByText('High priority · Blocked by #1')).toBeTruthy()
    answer = () => problem(503, 'unavailable')
    box.checked = false
    await userEvent.click(box)
    expect(await screen.findByRole('alert')).toBeTruthy()
    expect(box.checked).toBe(false)
  })

  it('are added by a line and a priority', async () => {
    const server = startFakeServer({ 'POST /sessions/s/tasks': () => json(task('1'), 201) })
    show()
    await userEvent.click(screen.getByRole('button', { name: 'Add task' }))
    expect(screen.getByRole('alert').textContent).toMatch(/what is to be done/)
    await userEvent.selectOptions(screen.getByLabelText('Priority'), 'high')
    await userEvent.type(screen.getByLabelText('Task'), 'Read{Enter}')
    await vi.waitFor(() => expect(server.calls.at(-1)?.body).toEqual({ subject: 'Read', priority: 'high' }))
    await vi.waitFor(() => expect(screen.getByLabelText<HTMLInputElement>('Task').value).toBe(''))
  })

  it('are edited in their place and deleted, by keyboard alone', async () => {
    const server = startFakeServer({
      'PATCH /sessions/s/tasks/1': () => json(task('1')),
      'DELETE /sessions/s/tasks/1': () => new Response(null, { status: 204 }),
    })
    show({ tasks: [task('1')] })
    screen.getByRole('button', { name: 'Edit part 1' }).focus()
    await userEvent.keyboard('{Enter}')
    const form = await screen.findByRole('form', { name: 'Edit task 1' })
    await vi.waitFor(() => expect(document.activeElement?.tagName).toBe('INPUT'))
    await userEvent.type(within(form).getByLabelText('Details'), 'Two pages.')
    await userEvent.type(within(form).getByLabelText('Task'), '!{Enter}')
    await vi.waitFor(() =>
      expect(server.calls.at(-1)?.body).toEqual({ subject: 'part 1!', priority: 'normal', description: 'Two pages.' }),
    )
    await vi.waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Edit part 1'))
    await userEvent.click(screen.getByRole('button', { name: 'Delete task: part 1' }))
    expect(await screen.findByText('Deleted: part 1')).toBeTruthy()
  })
})
