// @vitest-environment jsdom
import { cleanup, render, screen, within } from '@testing-library/vue'
import { afterEach, describe, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import type { WireEvent } from '@/api/types'
import { linesOver, planOutcome, presentLine, stepLine, todoLine } from './plan'
import PlanSteps from './PlanSteps.vue'
import { reduce } from './reducer'
import TaskList from './TaskList.vue'
import TodoList from './TodoList.vue'
import { emptyTranscript } from './transcript'

const at = '2026-01-01T00:00:00.000Z'
const envelope = { at, session_id: 's', run_id: 'r' }
const proposed = { ...envelope, seq: 1, type: 'plan.proposed', plan_id: 'p', call_id: 'c', plan: '# A', expires_at: at }
const decided = { ...envelope, type: 'plan.decided', plan_id: 'p', decision: 'reject', feedback: 'no', by: 'user' }
const steps = [
  { title: 'Look', status: 'done', result: '3 files' },
  { title: 'Think', status: 'skipped', result: '' },
  { title: 'Write', status: 'pending', result: '' },
] as const

function after(...events: object[]) {
  return events.reduce<typeof emptyTranscript>((state, event) => reduce(state, event as WireEvent), emptyTranscript)
}

afterEach(cleanup)

describe('a plan', () => {
  it('waits until it is decided, and then says what became of it', () => {
    expect(after(proposed).items).toMatchObject([{ kind: 'plan', planId: 'p', plan: '# A', decided: null }])
    const { items } = after(proposed, { ...decided, seq: 2 })
    expect(items).toMatchObject([{ decided: { decision: 'reject', feedback: 'no', by: 'user' } }])
  })
  it('makes its call wait for the person, and did not fail where it was rejected', () => {
    const called = { ...envelope, seq: 1, type: 'tool.called', call_id: 'c', name: 'exit_plan_mode', arguments: {} }
    const finished = {
      ...envelope,
      seq: 4,
      type: 'tool.finished',
      call_id: 'c',
      success: false,
      preview: '',
      body: null,
    }
    expect(after(called, { ...proposed, seq: 2 }).items[0]).toMatchObject({ outcome: 'asking' })
    const { items } = after(called, { ...proposed, seq: 2 }, { ...decided, seq: 3 }, finished)
    expect(items[0]).toMatchObject({ kind: 'tool', outcome: 'refused' })
  })
  it('is not decided by what is said of another one', () => {
    expect(after(proposed, { ...decided, seq: 2, plan_id: 'other' }).items).toMatchObject([{ decided: null }])
  })
  it('has words for each way it ends', () => {
    const ways = (['user', 'timeout', 'message', 'stop'] as const).map((by) =>
      planOutcome({ decision: 'reject', by, feedback: null }),
    )
    expect(ways).toEqual(['plan.rejected', 'plan.by.timeout', 'plan.by.message', 'plan.by.stop'])
    expect(planOutcome({ decision: 'approve', by: 'user', feedback: null })).toBe('plan.approved')
  })
})

describe('the steps of a plan', () => {
  it('are those that were told last', () => {
    const first = { ...envelope, seq: 1, type: 'plan.updated', steps: [] }
    expect(after(first, { ...first, seq: 2, steps }).steps).toEqual(steps)
    expect(after({ ...first, steps }, { ...first, seq: 2 }).steps).toEqual([])
  })
  it('say how many are over and which comes next', () => {
    const lines = steps.map(stepLine)
    expect(linesOver(lines)).toBe(2)
    expect(presentLine(lines)?.text).toBe('Write')
    expect(presentLine([])).toBeUndefined()
  })
  it('are read with their status and result', () => {
    render(PlanSteps, { props: { steps: [...steps] }, global: { plugins: [i18n] } })
    expect(screen.getByRole('status').textContent).toBe('2 of 3 steps')
    expect(screen.getByText('3 files')).toBeTruthy()
    expect(screen.getByText('Skipped:', { exact: false })).toBeTruthy()
  })
})

const tasks = [
  {
    id: '1',
    subject: 'Dig',
    status: 'in_progress',
    active_form: 'Digging',
    owner: 'a\u202Eb',
    blocked_by: [],
    blocks: ['2'],
  },
  { id: '2', subject: 'Plant', status: 'pending', active_form: '', owner: '', blocked_by: ['1'], blocks: [] },
].map((task) => ({ ...task, description: '', metadata: {} }))

describe('the tasks', () => {
  const told = (seq: number, version: number, list: unknown[]) => ({
    ...envelope,
    seq,
    type: 'tasks.updated',
    version,
    last_id: 2,
    tasks: list,
  })
  it('are those of the highest version, whoever told them', () => {
    expect(after(told(1, 1, []), told(2, 3, tasks), told(3, 2, [])).tasks.tasks).toEqual(tasks)
    expect(after(told(1, 1, tasks), told(2, 2, [])).tasks.tasks).toEqual([])
  })
  it('are read with their number, status, owner and what blocks them', () => {
    const shown = after(told(1, 1, tasks)).tasks.tasks
    const { container } = render(TaskList, { props: { tasks: shown }, global: { plugins: [i18n] } })
    expect(screen.getByRole('status').textContent).toBe('0 of 2 tasks')
    expect(screen.getByText('Digging')).toBeTruthy()
    const lines = [...container.querySelectorAll('li')].map((line) => line.textContent?.replace(/\s+/g, ' ').trim())
    expect(lines).toEqual(['At work: #1 Dig Assigned to a⟨U+202E⟩b', 'Open: #2 Plant Blocked by #1'])
    const over = shown.map((task) => ({ ...task, status: 'completed' as const }))
    cleanup()
    const later = render(TaskList, { props: { tasks: over }, global: { plugins: [i18n] } })
    expect(later.container.textContent).toContain('2 of 2 tasks')
    expect(later.container.textContent).not.toContain('Blocked')
  })
})

const todos = [
  { content: 'Dig', status: 'completed', active_form: 'Digging' },
  { content: 'Plant', status: 'in_progress', active_form: 'Planting' },
  { content: 'Water', status: 'pending', active_form: 'Watering' },
] as const

describe('the todos', () => {
  const told = { ...envelope, seq: 1, type: 'todos.updated', todos }
  function shown(list: readonly (typeof todos)[number][]) {
    return render(TodoList, { props: { todos: [...list] }, global: { plugins: [i18n] } })
  }
  it('are those that were told last, beside the steps of the plan', () => {
    expect(after(told).todos).toEqual(todos)
    const state = after({ ...envelope, seq: 1, type: 'plan.updated', steps }, { ...told, seq: 2 })
    expect([state.steps, state.todos]).toEqual([steps, todos])
    expect(after(told, { ...told, seq: 2, todos: [] }).todos).toEqual([])
  })
  it('of an agent below are not those of the one that the person talks to', () => {
    expect(after(told, { ...told, seq: 2, todos: [], agent_id: 'agent_1' }).todos).toEqual(todos)
  })
  it('say how many are completed and what is at work, in the words for that', () => {
    shown(todos)
    expect(screen.getByRole('status').textContent).toBe('1 of 3 to-dos')
    expect(screen.getByText('Planting')).toBeTruthy()
    expect(screen.queryByText('Watering')).toBeNull()
  })
  it('are read one by one with their status', () => {
    shown(todos)
    const list = screen.getByRole('list', { name: 'To-do list of the agent', hidden: true })
    const lines = within(list).getAllByRole('listitem', { hidden: true })
    expect(lines.map((line) => line.textContent?.trim())).toEqual(['Done: Dig', 'At work: Plant', 'Open: Water'])
  })
  it('say what comes next where nothing is at work, and nothing where all are completed', () => {
    expect(todoLine(todos[2]).whileAtWork).toBe('')
    shown([todos[0], todos[2]])
    expect(screen.getByText('Water', { selector: 'summary *' })).toBeTruthy()
    cleanup()
    shown([todos[0]])
    expect(screen.getByRole('status').textContent).toBe('1 of 1 to-dos')
    expect(screen.queryByText('Dig', { selector: 'summary *' })).toBeNull()
  })
})
