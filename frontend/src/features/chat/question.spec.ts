// @vitest-environment happy-dom
import { userEvent } from '@testing-library/user-event'
import { cleanup, render, screen } from '@testing-library/vue'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { WireEvent } from '@/api/types'
import { i18n } from '@/i18n'
import { json, problem, startFakeServer } from '@/shared/testing/fakeServer'
import QuestionCard from './QuestionCard.vue'
import { reduce } from './reducer'
import { emptyTranscript, isActive, type QuestionItem, type Transcript } from './transcript'

afterEach(() => {
  cleanup()
  localStorage.clear()
  vi.unstubAllGlobals()
})
const questions = [
  { id: 'q1', text: 'Which colour?', options: ['red', 'blue'], allow_text: false, several: false },
  { id: 'q2', text: 'How many?', options: [], allow_text: true, several: false },
]
const head = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const events = [
  { ...head, seq: 1, type: 'run.started', message_id: 'm', model: 'demo', worker: 'w', attempt: 1 },
  { ...head, seq: 2, type: 'question.asked', question_id: 'q', call_id: 'c', questions, expires_at: null },
  { ...head, seq: 3, type: 'question.answered', question_id: 'q', answers: { q1: 'red', q2: '3' }, by: 'user' },
  { ...head, seq: 4, type: 'run.queued', message_id: null, cause: 'answer' },
  { ...head, seq: 5, type: 'run.started', message_id: 'm', model: 'demo', worker: 'w', attempt: 2 },
] as WireEvent[]

function after(count: number): Transcript {
  return events.slice(0, count).reduce(reduce, emptyTranscript)
}
function asked(count: number): QuestionItem {
  const item = after(count).items.find((one) => one.kind === 'question')
  if (item?.kind !== 'question') throw new Error('no question')
  return item
}

describe('a question', () => {
  it('makes the run wait, and go on without a word of another worker', () => {
    expect(after(2).run?.status).toBe('waiting')
    expect(isActive(after(2))).toBe(false)
    expect(isActive(after(4))).toBe(true)
    expect(after(5).items.map((item) => item.kind)).toEqual(['question'])
    expect(asked(5).answers).toEqual({ q1: 'red', q2: '3' })
  })
  it('that was answered by a message did not fail', () => {
    const called = { ...head, seq: 1, type: 'tool.called', call_id: 'c', name: 'ask_user', arguments: {}, phrase: '' }
    const outcome = (by: string) =>
      [
        called,
        events[1],
        { ...head, seq: 3, type: 'question.answered', question_id: 'q', answers: null, by },
        { ...head, seq: 4, type: 'tool.finished', call_id: 'c', success: false, preview: '', body: null },
      ]
        .map((event) => event as WireEvent)
        .reduce(reduce, emptyTranscript)
        .items.find((item) => item.kind === 'tool')
    expect([called, events[1]].map((event) => event as WireEvent).reduce(reduce, emptyTranscript).items).toMatchObject([
      { kind: 'tool', outcome: 'asking' },
      { kind: 'question' },
    ])
    expect(outcome('message')).toMatchObject({ outcome: 'succeeded' })
    expect(outcome('deadline')).toMatchObject({ outcome: 'failed' })
  })
  it('is answered once all of it is, and says what is wrong', async () => {
    const path = 'POST /sessions/s/questions/q'
    let status = 409
    const server = startFakeServer({
      [path]: () =>
        status === 409 ? problem(409, 'question_answered', 'It has its answer.') : new Response(null, { status }),
    })
    render(QuestionCard, { props: { item: asked(2), sessionId: 's' }, global: { plugins: [i18n] } })
    const send = screen.getByRole<HTMLButtonElement>('button', { name: 'Answer' })
    const border = [...screen.getByRole('form').classList].filter((name) => name.startsWith('border-'))
    expect(border).toEqual(['border-accent'])
    await userEvent.click(screen.getByRole('radio', { name: 'red' }))
    expect(send.disabled).toBe(true)
    await userEvent.type(screen.getByRole('textbox', { name: 'How many?' }), '3')
    await userEvent.click(send)
    expect(await screen.findByText('It has its answer.')).toBeTruthy()
    status = 204
    await userEvent.click(send)
    expect(server.calls.at(-1)?.body).toEqual({ answers: { q1: 'red', q2: '3' } })
  })
  it('takes several options where it may have them, in the order in which they are offered', async () => {
    const server = startFakeServer({ 'POST /sessions/s/questions/q': () => json({}) })
    const question = { id: 'q1', text: 'Which?', options: ['red', 'blue', 'green'], allow_text: true, several: true }
    render(QuestionCard, {
      props: { item: { ...asked(2), questions: [question] }, sessionId: 's' },
      global: { plugins: [i18n] },
    })
    const box = (name: string) => screen.getByRole<HTMLInputElement>('checkbox', { name })
    for (const name of ['green', 'red', 'blue', 'blue']) await userEvent.click(box(name))
    expect([box('red').checked, box('blue').checked, box('green').checked]).toEqual([true, false, true])
    await userEvent.click(screen.getByRole('button', { name: 'Answer' }))
    expect(server.calls.at(-1)?.body).toEqual({ answers: { q1: 'red\ngreen' } })
    await userEvent.type(screen.getByRole('textbox'), 'all of them')
    expect(box('red').checked).toBe(false)
  })
  it('says what is lacking as long as one of several has no answer', async () => {
    render(QuestionCard, { props: { item: asked(2), sessionId: 's' }, global: { plugins: [i18n] } })
    expect(screen.getByText(/^Each question needs an answer\./)).toBeTruthy()
    await userEvent.click(screen.getByRole('radio', { name: 'red' }))
    await userEvent.type(screen.getByRole('textbox'), '3')
    expect(screen.getByText('Or write a message instead.')).toBeTruthy()
  })
  it('shows what it hides or reverses, and answers with the very option that was chosen', async () => {
    const server = startFakeServer({ 'POST /sessions/s/questions/q': () => json({}) })
    const question = {
      id: 'q1',
      text: 'Keep\u202E it?',
      options: ['yes', 'y\u200Bes'],
      allow_text: true,
      several: false,
    }
    const item = { ...asked(2), questions: [question] }
    render(QuestionCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
    expect(screen.getByText('Keep⟨U+202E⟩ it?')).toBeTruthy()
    expect(screen.getByRole('textbox', { name: 'Keep⟨U+202E⟩ it?' })).toBeTruthy()
    await userEvent.click(screen.getByRole('radio', { name: 'y⟨U+200B⟩es' }))
    await userEvent.click(screen.getByRole('button', { name: 'Answer' }))
    expect(server.calls.at(-1)?.body).toEqual({ answers: { q1: 'y\u200Bes' } })
    cleanup()
    const answered = { ...item, answers: { q1: 'y\u200Bes' }, by: 'user' as const }
    render(QuestionCard, { props: { item: answered, sessionId: 's' }, global: { plugins: [i18n] } })
    expect(screen.getByText('y⟨U+200B⟩es')).toBeTruthy()
  })
  it('keeps what was begun over a reload until it is decided', async () => {
    const show = (item: QuestionItem, sessionId = 's') =>
      render(QuestionCard, { props: { item, sessionId }, global: { plugins: [i18n] } })
    show(asked(2))
    await userEvent.click(screen.getByRole('radio', { name: 'blue' }))
    await userEvent.type(screen.getByRole('textbox'), '12')
    cleanup()
    show(asked(2), 'another')
    expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('')
    cleanup()
    show(asked(2))
    expect(screen.getByRole<HTMLInputElement>('radio', { name: 'blue' }).checked).toBe(true)
    expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('12')
    cleanup()
    show(asked(3))
    expect(localStorage.length).toBe(0)
  })
  it('begins anew where what was kept is of another form', () => {
    localStorage.setItem('answer:s:q', '{"chosen":{"q1":1},"written":null}')
    render(QuestionCard, { props: { item: asked(2), sessionId: 's' }, global: { plugins: [i18n] } })
    expect(screen.getByRole<HTMLInputElement>('textbox').value).toBe('')
  })
  it('is set as Markdown, with what a link leads to', () => {
    const question = {
      id: 'q1',
      text: 'May I **change** it?\n\n- [why](https://example.org)',
      options: [],
      allow_text: true,
      several: false,
    }
    const item = { ...asked(2), questions: [question] }
    render(QuestionCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
    expect(screen.getByText('change').tagName).toBe('STRONG')
    expect(screen.getByRole('listitem').textContent).toContain('https://example.org')
    expect(screen.getByRole('group', { name: /^May I change it\?/ })).toBeTruthy()
  })
  it('shows the answer, or why there is none', () => {
    render(QuestionCard, { props: { item: asked(3), sessionId: 's' }, global: { plugins: [i18n] } })
    expect(screen.getByText('red')).toBeTruthy()
    expect(screen.queryByRole('button')).toBeNull()
    cleanup()
    const item = { ...asked(2), by: 'message' as const }
    render(QuestionCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
    expect(screen.getByText('Answered by a message.')).toBeTruthy()
  })
  it('shows one answer a question: what is written takes back what is chosen, and the other way round', async () => {
    const body: unknown[] = []
    startFakeServer({ 'POST /sessions/s/questions/q': (request) => (body.push(request.body), json({})) })
    const question = { id: 'q1', text: 'Which tea?', options: ['green', 'black'], allow_text: true, several: false }
    const item = { ...asked(2), questions: [question] }
    render(QuestionCard, { props: { item, sessionId: 's' }, global: { plugins: [i18n] } })
    const field = screen.getByRole<HTMLInputElement>('textbox')
    const green = screen.getByRole<HTMLInputElement>('radio', { name: 'green' })
    await userEvent.click(green)
    await userEvent.type(field, 'rooibos')
    expect([green.checked, field.value]).toEqual([false, 'rooibos'])
    await userEvent.click(green)
    expect([green.checked, field.value]).toEqual([true, ''])
    await userEvent.click(screen.getByRole('button', { name: 'Answer' }))
    expect(body).toEqual([{ answers: { q1: 'green' } }])
  })
})
