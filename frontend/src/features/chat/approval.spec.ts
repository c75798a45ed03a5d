// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen, within } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { WireEvent } from '@/api/types'
import { ToolCardView } from '@/features/tools'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import { shownArguments } from './approval'
import ApprovalCard from './ApprovalCard.vue'
import { reduce } from './reducer'
import { emptyTranscript, type ApprovalItem, type ToolItem, type Transcript } from './transcript'

afterEach(() => {
  cleanup()
  localStorage.clear()
  vi.unstubAllGlobals()
})
const head = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const called = { phrase: '', parent_call_id: null, dangerous: false, read_only: false, needs_computer: true, turn: 1 }
const calls = [
  { call_id: 'c1', name: 'shell_run', arguments: { command: 'rm -r <b>all</b>' }, safety_checks: [] },
  { call_id: 'c2', name: 'file_write', arguments: { path: 'a.txt', content: 'x'.repeat(5000) }, safety_checks: [] },
]
const events = [
  { ...head, seq: 1, type: 'run.started', message_id: 'm', model: 'demo', worker: 'w', attempt: 1 },
  { ...head, seq: 2, type: 'tool.called', ...calls[0], ...called, seen_seq: 0, asks: true },
  { ...head, seq: 3, type: 'tool.called', ...calls[1], ...called, seen_seq: 0, asks: true },
  { ...head, seq: 4, type: 'approval.requested', approval_id: 'a', calls, expires_at: '2026-01-01T00:05:00Z' },
  ...[
    { call_ids: ['c1'], decision: 'deny', feedback: 'Not all!', by: 'user' },
    { call_ids: ['c2'], decision: 'approve', feedback: null, by: 'user' },
  ].map((told, at) => ({ ...head, seq: 5 + at, type: 'approval.resolved', approval_id: 'a', ...told })),
  { ...head, seq: 7, type: 'run.queued', message_id: null, cause: 'answer' },
  { ...head, seq: 8, type: 'run.started', message_id: 'm', model: 'demo', worker: 'w', attempt: 2 },
  { ...head, seq: 9, type: 'tool.started', call_id: 'c2' },
] as WireEvent[]

function after(count: number): Transcript {
  return events.slice(0, count).reduce(reduce, emptyTranscript)
}
function asked(count: number): ApprovalItem {
  const item = after(count).items.find((one) => one.kind === 'approval')
  if (item?.kind !== 'approval') throw new Error('no approval')
  return item
}
function show(count: number): void {
  render(ApprovalCard, { props: { item: asked(count), sessionId: 's' }, global: { plugins: [i18n] } })
}
function outcomes(count: number): string[] {
  return after(count).items.flatMap((item) => (item.kind === 'tool' ? [item.outcome] : []))
}

describe('the arguments of a call', () => {
  it('are shown with what can hide or reverse a part of them written out', () => {
    const command = 'ls \u202E\u2066; rm -rf work \u2069\u{E0041}a\rb\u200Bc\nd\te'
    const [shown] = shownArguments({ command })
    expect(shown?.text).toBe('ls ⟨U+202E⟩⟨U+2066⟩; rm -rf work ⟨U+2069⟩⟨U+E0041⟩a⟨U+000D⟩b⟨U+200B⟩c\nd\te')
    expect(shownArguments({ 'a\u202E': null, b: undefined })).toEqual([
      { name: 'a⟨U+202E⟩', text: 'null', length: null },
    ])
  })
})
describe('an approval', () => {
  it('holds its calls, and one that is approved runs when it is started', () => {
    expect(after(4).run?.status).toBe('waiting')
    expect(outcomes(4)).toEqual(['asking', 'asking'])
    expect(after(9).run?.status).toBe('running')
    expect(outcomes(9)).toEqual(['asking', 'running'])
    expect(after(9).items.map((item) => item.kind)).toEqual(['tool', 'tool', 'approval'])
  })
  it('is over with what stops its run, and a call that it asked for has never run', () => {
    const cut = { ...head, seq: 5, type: 'tool.finished', call_id: 'c1', success: false, cancelled: true, preview: '' }
    const stopped = reduce(after(4), { ...cut, body: null, duration_ms: 0, display: null } as unknown as WireEvent)
    const [asked, left] = stopped.items
    expect([asked, left]).toMatchObject([{ outcome: 'skipped' }, { outcome: 'asking' }])
    const global = { plugins: [i18n] }
    render(ToolCardView, { props: { card: { ...(asked as ToolItem), name: 'shell_exec' }, sessionId: 's' }, global })
    expect(screen.getByRole('button').textContent).toMatch(/^Run rm -r <b>all<\/b>.*Not run$/)
  })
  it('tells whoever decided too late so, though the stream closed the card first', async () => {
    const path = 'POST /sessions/s/approvals/a'
    startFakeServer({ [path]: () => problem(409, 'approval_decided', 'It is decided.') })
    const global = { plugins: [i18n] }
    const { rerender } = render(ApprovalCard, { props: { item: asked(4), sessionId: 's' }, global })
    await userEvent.click(screen.getByRole('button', { name: 'Refuse all' }))
    const told = (await screen.findByRole('alert')).textContent
    await rerender({ item: asked(6), sessionId: 's' })
    expect(screen.getByRole('alert').textContent).toBe(told)
  })
  it('says no more what went wrong before, once somebody has decided', async () => {
    const path = 'POST /sessions/s/approvals/a'
    startFakeServer({ [path]: () => problem(503, 'store_unavailable', 'Away.') })
    const { rerender } = render(ApprovalCard, {
      props: { item: asked(4), sessionId: 's' },
      global: { plugins: [i18n] },
    })
    await userEvent.click(screen.getByRole('button', { name: 'Refuse all' }))
    expect(await screen.findByRole('alert')).toBeTruthy()
    await rerender({ item: asked(6), sessionId: 's' })
    expect(screen.queryByRole('alert')).toBeNull()
  })
  it('did not fail where it was refused', () => {
    const finished = { ...head, seq: 7, type: 'tool.finished', success: false, preview: '', body: null }
    const end = (callId: string) => reduce(after(6), { ...finished, call_id: callId } as WireEvent).items
    expect(end('c1')[0]).toMatchObject({ kind: 'tool', outcome: 'refused' })
    expect(end('c2')[1]).toMatchObject({ kind: 'tool', outcome: 'failed' })
  })
  it('says what is to be done once, with the names of arguments in the language of the page', () => {
    const given = {
      call_id: 'c',
      name: 'shell_exec',
      arguments: { command: 'df -h', odd: 1, constructor: 2 },
      safety_checks: [],
    }
    const item = { ...asked(4), calls: [given] }
    i18n.global.locale.value = 'zh'
    const { container } = render(ApprovalCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
    i18n.global.locale.value = 'en'
    expect(container.textContent.match(/df -h/g)).toHaveLength(1)
    expect([...container.querySelectorAll('dt')].map((one) => one.textContent.trim())).toEqual([
      '命令',
      'odd',
      'constructor',
    ])
  })
  it('says why the provider of the model holds calls back, once for all that are held back together', () => {
    const checks = [
      { code: 'malicious_instructions', message: 'The page <b>asks</b> for\u202E money.' },
      { code: 'irrelevant_domain', message: '' },
      { code: '', message: '' },
    ]
    const [first, second] = calls.map((call) => ({ ...call, safety_checks: checks }))
    const item = { ...asked(4), calls: [first, second] } as ApprovalItem
    for (const [locale, told] of [
      ['en', 'The provider of the model holds this back until you allow it. It says:'],
      ['zh', '模型服务要求先得到你的允许，它的说明：'],
    ] as const) {
      i18n.global.locale.value = locale
      const { container } = render(ApprovalCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
      expect(screen.getAllByText(told)).toHaveLength(1)
      expect([...container.querySelectorAll('blockquote')].map((one) => one.textContent)).toEqual([
        'The page <b>asks</b> for⟨U+202E⟩ money.',
        'irrelevant_domain',
        locale === 'en' ? '(no reason given)' : '（没有给出原因）',
      ])
      cleanup()
    }
    i18n.global.locale.value = 'en'
    show(4)
    expect(screen.queryByText(/holds this back/)).toBeNull()
  })
  it('says whose work it is for, where another agent asks', () => {
    const props = { item: asked(4), sessionId: 's', task: 'count {the} @:files' }
    render(ApprovalCard, { props, global: { plugins: [i18n] } })
    expect(screen.getByRole('group', { name: /^The sub-agent at work on “count {the} @:files” asks/ })).toBeTruthy()
  })
  it('is not reversed or hidden in by the task or the name of a tool', () => {
    const item = { ...asked(4), calls: [{ call_id: 'c1', name: 'shell\u202E', arguments: {} }] } as ApprovalItem
    const props = { item, sessionId: 's', task: 'tidy\u202E up' }
    render(ApprovalCard, { props, global: { plugins: [i18n] } })
    expect(screen.getByRole('group', { name: /“tidy⟨U\+202E⟩ up” asks/ })).toBeTruthy()
    expect(screen.getByText('shell⟨U+202E⟩')).toBeTruthy()
  })
  it('shows what would be done as text, and decides on one call or on all', async () => {
    const path = 'POST /sessions/s/approvals/a'
    let refuses = true
    const server = startFakeServer({
      [path]: () =>
        refuses ? problem(409, 'approval_decided', 'It is decided: call_6af denied by the user.') : json({}),
    })
    show(4)
    expect(screen.getByText('rm -r <b>all</b>')).toBeTruthy()
    expect(screen.getByText(/^x{5000}$/)).toBeTruthy()
    expect(screen.getByText(/5,000 characters, read them to the end/)).toBeTruthy()
    await userEvent.type(screen.getByRole('textbox'), 'Not all!')
    await userEvent.click(screen.getByRole('button', { name: /^Refuse: Use shell/ }))
    expect(server.calls.at(-1)?.body).toEqual({ decision: 'deny', call_ids: ['c1'], feedback: 'Not all!' })
    expect(await screen.findByText('This was already decided: what was decided is shown here.')).toBeTruthy()
    expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('Not all!')
    refuses = false
    await userEvent.click(screen.getByRole('button', { name: 'Approve all' }))
    expect(server.calls.at(-1)?.body).toEqual({ decision: 'approve' })
    await userEvent.click(screen.getByRole('button', { name: 'Refuse all' }))
    expect(server.calls.at(-1)?.body).toEqual({ decision: 'deny', feedback: 'Not all!' })
    expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('')
    await userEvent.click(screen.getByRole('button', { name: 'Approve and stop asking here' }))
    expect(server.calls.at(-1)?.body).toEqual({ decision: 'approve_all' })
  })
  it('asks for the one call that is left as for a single one', () => {
    show(5)
    expect(screen.getAllByRole('button').map((button) => button.textContent)).toEqual([
      'Approve',
      'Refuse',
      'Approve and stop asking here',
    ])
  })
  it('says what was decided by whom, and asks no more', () => {
    show(6)
    const card = within(screen.getByRole('group', { name: 'The agent asked first' }))
    expect(card.getByText('Refused')).toBeTruthy()
    expect(card.getByText('Not all!')).toBeTruthy()
    expect(card.getByText('Approved')).toBeTruthy()
    expect(card.queryByRole('button')).toBeNull()
    cleanup()
    const item = { ...asked(6), decided: { c1: { decision: 'deny', by: 'timeout', feedback: null } } } as ApprovalItem
    render(ApprovalCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
    expect(screen.getByText('Refused: not decided in time')).toBeTruthy()
  })
  it('keeps a reason that was begun over a reload until all is decided', async () => {
    show(4)
    await userEvent.type(screen.getByRole('textbox'), 'Too much')
    cleanup()
    show(5)
    expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('Too much')
    cleanup()
    show(6)
    expect(localStorage.length).toBe(0)
  })
  it('is refused by a reason and the enter key, and by that key alone not', async () => {
    const server = startFakeServer({ 'POST /sessions/s/approvals/a': () => json({}) })
    show(5)
    await userEvent.type(screen.getByRole('textbox'), '{Enter}')
    expect(server.calls).toEqual([])
    await userEvent.type(screen.getByRole('textbox'), 'Keep it{Enter}')
    expect(server.calls.map((call) => call.body)).toEqual([{ decision: 'deny', feedback: 'Keep it' }])
  })
})
