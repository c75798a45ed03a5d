// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/vue'
import userEvent from '@testing-library/user-event'
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { i18n } from '@/i18n'
import { startFakeServer } from '@/shared/testing/fakeServer'
import type { ModelCall, RequestPayload, ResponsePayload } from './modelCalls'
import ModelCallsPanel from './ModelCallsPanel.vue'

const sent: RequestPayload = {
  model: 'm',
  max_output_tokens: 10,
  thinking: null,
  turns: [{ role: 'tool', name: 'look', output: '<b>seen</b>', success: false }],
}
const said: ResponsePayload = {
  text: 'Done.',
  thinking: 'hm',
  calls: [{ id: 'c', name: 'write', arguments: { a: 1 } }],
}
const usage = { input: 1200, cached: 800, output: 2, thinking: 0, cache_write: 0, new: 0, cost: null, known_cost: 0 }
const response = {
  seq: 8,
  outcome: 'tool_calls' as const,
  usage: { ...usage, by_model: {}, costs: {} },
  code: null,
  error: null,
  attempts: [{ code: 'model_unavailable', text: 'Busy.', at_ms: 1500 }],
  durationMs: 2300,
  firstMs: 300,
  payload: said,
  isKept: true,
}
const call: ModelCall = {
  number: 1,
  seq: 7,
  role: 'agent',
  agentId: null,
  model: 'some-model',
  at: '',
  turnCount: 4,
  hasEarlier: true,
  payload: sent,
  isKept: true,
  response,
  isLost: false,
}

beforeEach(() => setActivePinia(createPinia()))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show(...calls: ModelCall[]) {
  return render(ModelCallsPanel, { props: { sessionId: 's', calls }, global: { plugins: [i18n] } })
}

describe('the panel of model calls', () => {
  it('says what will be there before anything is', () => {
    show()
    expect(screen.getByText(/No calls yet/)).toBeTruthy()
  })
  it('lists each call with what it is for, how it ended, its time and tokens', () => {
    show(call, { ...call, number: 2, role: 'compact', response: null, isLost: true })
    const [first, second] = screen.getAllByRole('listitem')
    for (const told of ['Agent', 'some-model', 'Called tools', '2.3 s', '1,200 in (800 cached), 2 out'])
      expect(first?.textContent).toContain(told)
    expect(second?.textContent).toContain('No answer recorded')
  })
  it('numbers them through, whatever each was numbered by its run or role', () => {
    show(call, { ...call, seq: 9, role: 'title' }, { ...call, seq: 11 })
    expect(screen.getAllByRole('listitem').map((one) => one.textContent.trim()[0])).toEqual(['1', '2', '3'])
  })
  it('opens one to what is new in it and what came, as text', async () => {
    show(call)
    await userEvent.click(screen.getByRole('button', { name: /Agent/ }))
    expect(await screen.findByText('<b>seen</b>')).toBeTruthy()
    expect(screen.getByText('The new one of 4 parts.')).toBeTruthy()
    expect(screen.getByText('Done.')).toBeTruthy()
    expect(screen.getByText(/Failed after 1.5 s and asked again: Busy./)).toBeTruthy()
    expect(screen.getByLabelText('Call of write').textContent).toContain('"a": 1')
  })
  it('fetches all that was sent, and what is long, when it is asked for', async () => {
    const whole = { ...sent, system: 'You are.', tools: [{ name: 'look', description: '' }] }
    const server = startFakeServer({
      'GET /sessions/s/events/7/body': () => Response.json(sent),
      'GET /sessions/s/events/8/body': () => Response.json(said),
      'GET /sessions/s/events/7/request': () => Response.json(whole),
    })
    show({ ...call, payload: null, response: { ...response, payload: null } })
    expect(server.calls).toHaveLength(0)
    await userEvent.click(screen.getByRole('button', { name: /Agent/ }))
    expect(await screen.findByText('Done.')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Show all' }))
    expect(await screen.findByText('You are.')).toBeTruthy()
    expect(screen.getByText('All 4 parts of the conversation.')).toBeTruthy()
  })
  it('says why it could not, and tries again', async () => {
    startFakeServer({
      'GET /sessions/s/events/7/body': () => Response.json({ code: 'x', detail: 'Not there.' }, { status: 404 }),
    })
    show({ ...call, payload: null })
    await userEvent.click(screen.getByRole('button', { name: /Agent/ }))
    expect((await screen.findByRole('alert')).textContent).toContain('Not there.')
    startFakeServer({ 'GET /sessions/s/events/7/body': () => Response.json(sent) })
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByText('<b>seen</b>')).toBeTruthy()
  })
  it('says in the list and in the call what is not kept, and asks the server for none of it', async () => {
    const server = startFakeServer({})
    const omitted = { ...response, payload: null, isKept: false }
    show(call, { ...call, seq: 17, number: 2, payload: null, isKept: false, response: omitted })
    expect(screen.getByRole('status').textContent).toContain('no longer kept')
    const [first, second] = screen.getAllByRole('listitem')
    expect(first?.textContent).not.toContain('Not kept')
    expect(second?.textContent).toContain('1,200 in (800 cached), 2 out· Not kept')
    await userEvent.click(screen.getAllByRole('button', { name: /Agent/ })[1]!)
    expect(screen.getAllByText(/Not kept: your conversations/)).toHaveLength(2)
    expect(screen.queryByRole('alert')).toBeNull()
    expect(server.calls).toHaveLength(0)
  })
  it('says no more of the limit once calls are kept again', () => {
    show({ ...call, seq: 17, payload: null, isKept: false }, { ...call, number: 2 })
    expect(screen.queryByText(/no longer kept/)).toBeNull()
  })
  it('shows the answer of an open call as soon as it is there', async () => {
    const { rerender } = show({ ...call, response: null })
    await userEvent.click(screen.getByRole('button', { name: /Agent/ }))
    expect(screen.getByText('Not there yet.')).toBeTruthy()
    await rerender({ calls: [call] })
    expect(await screen.findByText('Done.')).toBeTruthy()
  })
})
