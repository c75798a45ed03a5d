// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { nextTick } from 'vue'
import { i18n } from '@/i18n'
import { json, startFakeServer, type FakeServer } from '@/shared/testing/fakeServer'
import ApprovalCard from './ApprovalCard.vue'
import PlanCard from './PlanCard.vue'
import type { ApprovalItem, PlanItem } from './transcript'

type Watcher = (entries: { isIntersecting: boolean; target: Element; time: number }[]) => void
const watchers = new Map<Element, Watcher>()

class FakeObserver {
  constructor(private readonly told: Watcher) {}
  observe(target: Element): void {
    watchers.set(target, this.told)
  }
  disconnect(): void {}
  unobserve(): void {}
}
/** Whether a card is in view. */
async function see(card: HTMLElement, isIntersecting = true): Promise<void> {
  await nextTick()
  watchers.get(card)?.([{ isIntersecting, target: card, time: performance.now() }])
  await nextTick()
}
const answers = { json: () => json({}) }
let server: FakeServer
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.stubGlobal('IntersectionObserver', FakeObserver)
  server = startFakeServer({
    'POST /sessions/s/approvals/a': answers.json,
    'POST /sessions/s/approvals/b': answers.json,
    'POST /sessions/s/plans/p': answers.json,
  })
})
afterEach(() => {
  cleanup()
  vi.useRealTimers()
  vi.unstubAllGlobals()
  localStorage.clear()
  watchers.clear()
})
const decisions = (): unknown[] => server.calls.filter(({ method }) => method === 'POST').map(({ body }) => body)
const approval = (id: string, name = 'shell', given: object = { command: 'ls' }): ApprovalItem => {
  const calls = [{ call_id: `c${id}`, name, arguments: { ...given }, safety_checks: [] }]
  return { kind: 'approval', key: id, approvalId: id, calls, expiresAt: null, decided: {} }
}
function show(id = 'a'): HTMLElement {
  const { container } = render(ApprovalCard, {
    props: { item: approval(id), sessionId: 's' },
    global: { plugins: [i18n] },
  })
  return container.querySelector<HTMLElement>('section')!
}
const plan: PlanItem = { kind: 'plan', key: 'p', planId: 'p', callId: 'c', plan: '1. Sweep\n2. Wash', decided: null }
const showPlan = () => {
  const { container } = render(PlanCard, { props: { item: plan, sessionId: 's' }, global: { plugins: [i18n] } })
  return container.querySelector<HTMLElement>('section')!
}
const settle = () => vi.advanceTimersByTime(1000)

it('are shown on the buttons and decide while the card is in view', async () => {
  const card = show()
  expect(card.querySelector('kbd')).toBeNull()
  await userEvent.keyboard('y')
  await see(card)
  expect([...card.querySelectorAll('kbd')].map((key) => key.textContent)).toEqual(['Y', 'N'])
  expect(screen.getByRole('button', { name: 'Approve' }).getAttribute('aria-keyshortcuts')).toBe('Y')
  settle()
  await userEvent.keyboard('x{Control>}y{/Control}{Alt>}n{/Alt}')
  expect(decisions()).toEqual([])
  await userEvent.keyboard('n')
  expect(decisions()).toEqual([{ decision: 'deny' }])
  await see(card, false)
  await userEvent.keyboard('y')
  expect(decisions()).toHaveLength(1)
})
it('decide nothing that came while a key was on its way', async () => {
  await see(show())
  await userEvent.keyboard('y')
  expect(decisions()).toEqual([])
  settle()
  await userEvent.keyboard('Y')
  expect(decisions()).toEqual([{ decision: 'approve' }])
})
it('are letters like any others where something is written', async () => {
  await see(show())
  settle()
  await userEvent.type(screen.getByRole('textbox'), 'yny')
  expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('yny')
  expect(decisions()).toEqual([])
})
it('are sent by Enter in the message box, alone, and no first letter of a message decides', async () => {
  const card = show()
  const box = document.createElement('textarea')
  box.dataset['textAlone'] = ''
  const sent = vi.fn()
  box.addEventListener('keydown', ({ key }) => key === 'Enter' && sent(box.value))
  document.body.append(box)
  await see(card)
  settle()
  const shown = () => [...card.querySelectorAll('kbd')].map((key) => key.textContent)
  await userEvent.click(box)
  expect(shown()).toEqual(['Y ⏎', 'N ⏎'])
  await userEvent.keyboard('y')
  expect([shown(), decisions()]).toEqual([['Y ⏎'], []])
  await userEvent.keyboard('ou may not')
  expect(shown()).toEqual([])
  await userEvent.keyboard('{Enter}')
  expect([sent.mock.calls, decisions()]).toEqual([[['you may not']], []])
  await userEvent.clear(box)
  await userEvent.click(screen.getByRole('textbox', { name: /If you refuse/ }))
  expect(shown()).toEqual([])
  await userEvent.click(box)
  await userEvent.keyboard('y{Control>}{Enter}{/Control}')
  expect(decisions()).toEqual([])
  await userEvent.keyboard('{Enter}')
  expect([box.value, decisions(), sent.mock.calls.length]).toEqual(['', [{ decision: 'approve' }], 2])
  box.remove()
})
it('are not sent as a message, which would refuse, where they come before the card has settled', async () => {
  const card = show()
  const box = document.createElement('textarea')
  box.dataset['textAlone'] = ''
  const sent = vi.fn()
  box.addEventListener('keydown', ({ key }) => key === 'Enter' && sent(box.value))
  document.body.append(box)
  await see(card)
  await userEvent.click(box)
  await userEvent.keyboard('y{Enter}')
  expect([box.value, sent.mock.calls, decisions()]).toEqual(['y', [], []])
  settle()
  await userEvent.keyboard('{Enter}')
  expect([box.value, sent.mock.calls, decisions()]).toEqual(['', [], [{ decision: 'approve' }]])
  box.remove()
})
it('are neither shown nor taken where there is nothing but touch', async () => {
  vi.stubGlobal('matchMedia', (query: string) => ({
    matches: query.includes('coarse'),
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }))
  const card = show()
  await see(card)
  settle()
  await userEvent.keyboard('y')
  expect([card.querySelector('kbd'), decisions()]).toEqual([null, []])
})
it('mean no card where two are in view', async () => {
  const [first, second] = [show('a'), show('b')]
  await see(first)
  await see(second)
  settle()
  await userEvent.keyboard('y')
  expect(decisions()).toEqual([])
  expect(document.querySelector('kbd')).toBeNull()
  await see(first, false)
  await userEvent.keyboard('y')
  expect(decisions()).toEqual([])
  settle()
  await userEvent.keyboard('y')
  expect(server.calls.map(({ path }) => path)).toEqual(['/sessions/s/approvals/b'])
})
it('leave the strongest choice last', () => {
  show()
  const names = screen.getAllByRole('button').map((button) => button.textContent?.trim())
  expect(names).toEqual(['Approve', 'Refuse', 'Always allow this command', 'Approve and stop asking here'])
})
it('decide about a plan too', async () => {
  await see(showPlan())
  settle()
  await userEvent.keyboard('y')
  expect(decisions()).toEqual([{ decision: 'approve' }])
})
it('a plan is edited in place, and the agent reads the edited one', async () => {
  showPlan()
  await userEvent.click(screen.getByRole('button', { name: 'Edit the plan' }))
  const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'The plan' })
  expect([field.value, document.activeElement === field]).toEqual(['1. Sweep\n2. Wash', true])
  await userEvent.clear(field)
  await userEvent.type(field, '1. Only sweep')
  cleanup()
  showPlan()
  await userEvent.click(screen.getByRole('button', { name: 'Approve the edited plan' }))
  expect(decisions()).toEqual([
    {
      decision: 'approve',
      feedback: 'I edited the plan. Carry out this one in place of yours:\n\n1. Only sweep',
    },
  ])
  await userEvent.click(screen.getByRole('button', { name: 'As it was proposed' }))
  await userEvent.click(screen.getByRole('button', { name: 'Approve the plan' }))
  expect(decisions().at(-1)).toEqual({ decision: 'approve' })
})
it('a file that is there shows what changes, and the whole text on demand', async () => {
  server = startFakeServer({
    'GET /sessions/s/files/content': () => json({ content: 'one\ntwo', truncated: false, name: 'a', size: 7 }),
  })
  const item = approval('a', 'file_write', { path: 'a.txt', content: 'one\n2\u202e' })
  render(ApprovalCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
  const changes = await screen.findByRole('region', { name: 'What changes in the file that is there' })
  expect([...changes.querySelectorAll('p')].map((line) => line.textContent)).toEqual([' one', '-two', '+2⟨U+202E⟩'])
  await userEvent.click(screen.getByRole('button', { name: 'Show the whole text' }))
  expect(screen.queryByRole('region')).toBeNull()
  expect(screen.getByText(/one\s+2⟨U\+202E⟩/)).toBeTruthy()
})
it('a file that is new, cut or no text is shown whole', async () => {
  for (const found of [null, { content: 'on', truncated: true }, { content: null, truncated: false }]) {
    server = startFakeServer(found ? { 'GET /sessions/s/files/content': () => json(found) } : {})
    const item = approval('a', 'file_write', { path: 'a.txt', content: 'all of it' })
    render(ApprovalCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
    await vi.waitFor(() => expect(server.calls).toHaveLength(1))
    await nextTick()
    expect(screen.getByText('all of it')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Show the whole text' })).toBeNull()
    cleanup()
  }
})
