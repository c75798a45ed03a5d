// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { SessionState, WireEvent } from '@/api/types'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { createHistory, turnBegin, type StoredEvent } from './history'
import { reduce } from './reducer'
import { emptyTranscript, type Transcript } from './transcript'

afterEach(() => vi.unstubAllGlobals())

const at = '2026-01-01T00:00:00Z'
const usage = { input: 0, cached: 0, output: 0, thinking: 0, cache_write: 0, cost: null, known_cost: 0, by_model: {} }
type Told = Record<string, unknown> & { type: string }

/** A run that asks for so many calls, one after the other, each of an agent of its own where it is to be. */
function run(name: string, calls: number, ends = true): Told[] {
  const base = { run_id: name }
  const call = (index: number): Told[] => {
    const id = `${name}-${index}`
    return [
      { ...base, type: 'tool.called', call_id: id, name: 'shell', arguments: {}, phrase: 'Runs', seen_seq: 0 },
      { ...base, type: 'subagent.started', parent_call_id: id, subagent_id: `of-${id}`, kind: 'general' },
      { ...base, type: 'message.completed', message_id: id, text: `inner ${id}`, agent_id: `of-${id}`, partial: false },
      { ...base, type: 'tool.finished', call_id: id, success: true, preview: id, duration_ms: 1, body: null },
    ]
  }
  const end = { status: 'completed', reason: null, retryable: false, usage, files: [], duration_ms: 5 }
  return [
    { ...base, type: 'message.user', message_id: `u-${name}`, text: name, attachments: [], client_message_id: null },
    { ...base, type: 'run.started', model: 'x' },
    ...Array.from({ length: calls }, (_, index) => call(index)).flat(),
    ...(ends ? [{ ...base, type: 'run.finished', ...end }] : []),
  ]
}
const numbered = (told: readonly Told[]): StoredEvent[] =>
  told.map((one, index) => ({ at, session_id: 's', ...one, seq: index + 1 }) as unknown as StoredEvent)

const session = { id: 's', title: 'Named', model: null }
const asState = (more: object = {}) => ({ session, sandbox: null, last_seq: 0, ...more }) as unknown as SessionState

/** What was asked for, as numbers. */
function serve(events: readonly StoredEvent[]): string[] {
  const asked: string[] = []
  startFakeServer({
    'GET /sessions/s/events': ({ path }) => {
      const query = new URLSearchParams(path.split('?')[1])
      asked.push(String(query.get('limit')))
      const before = events.filter(({ seq }) => seq < Number(query.get('before')))
      const items = before.slice(-Number(query.get('limit')))
      return json({ items, last_seq: events.length, has_more: (items[0]?.seq ?? 1) > 1 })
    },
  })
  return asked
}
const whole = (events: readonly WireEvent[]): Transcript => events.reduce(reduce, emptyTranscript)

async function opened(events: readonly StoredEvent[], more: object = {}) {
  const asked = serve(events)
  const { signal } = new AbortController()
  const history = createHistory()
  let state = await history.open('s', Promise.resolve(asState(more)), signal)
  const first = { state, asked: [...asked] }
  async function allOfIt(): Promise<Transcript> {
    while (history.hasEarlier()) state = (await history.earlier('s', () => state, signal)) ?? state
    return state
  }
  return { history, first, allOfIt }
}

describe('a long conversation', () => {
  it('is opened at its end with one request, and begins with a turn', async () => {
    const events = numbered(Array.from({ length: 100 }, (_, index) => run(`r${index}`, 4)).flat())
    const { first } = await opened(events)
    expect(first.asked).toEqual(['300'])
    expect(first.state.items[0]).toMatchObject({ kind: 'user' })
    expect(first.state.items.at(-1)).toEqual(whole(events).items.at(-1))
    expect(first.state.lastSeq).toBe(events.length)
  })
  it('is the same as one that was read from its beginning once all of it is there', async () => {
    const kinds = [[4, 0, 30], [400], [2, 500, 3], [10, 10, 10, 10, 10, 200, 1]]
    for (const kind of kinds) {
      const events = numbered(
        Array.from({ length: 3 }, (_, turn) => kind.flatMap((calls, at) => run(`${turn}.${at}`, calls))).flat(),
      )
      const { allOfIt } = await opened(events)
      expect((await allOfIt()).items).toEqual(whole(events).items)
    }
  })
  it('shows what came while older ones were loaded, and what they did to calls of before', async () => {
    const events = numbered(run('long', 500, false))
    const { history, first, allOfIt } = await opened(events.slice(0, -1), {
      run: { id: 'long', status: 'running', created_at: at },
    })
    const last = events.at(-1) as StoredEvent
    const now = reduce(first.state, last)
    history.keep(last)
    const longer = await history.earlier('s', () => now, new AbortController().signal)
    expect(longer?.lastSeq).toBe(events.length)
    expect((await allOfIt()).items).toEqual(whole(events).items)
  })
  it('knows what is told but once: its plan, tasks, run and open ports', async () => {
    const step = { title: 'Dig', status: 'done', result: '' }
    const events = numbered([...run('first', 1), ...run('long', 500, false)])
    const port = { kind: 'port', id: 'p', port: 3000, label: '', opened_at: at, opened_by: 'agent' }
    const { first } = await opened(events, {
      run: { id: 'long', status: 'running', created_at: at, started_at: at },
      plan: { steps: [step] },
      tasks: [{ id: '1', subject: 'Water' }],
      resources: [port],
    })
    expect(first.state).toMatchObject({
      ...{ run: { id: 'long', status: 'running' }, steps: [step], title: 'Named' },
      ...{ tasks: { tasks: [{ subject: 'Water' }] }, ports: [{ port: 3000 }] },
    })
  })
  it('loads as far as to the decision that a run waits for', async () => {
    const call = { call_id: 'c', name: 'write_file', arguments: {} }
    const asking: Told[] = [
      { type: 'approval.requested', run_id: 'w', approval_id: 'a', calls: [call], expires_at: null },
      ...Array.from({ length: 900 }, () => ({ type: 'files.changed', run_id: 'w', paths: [] })),
    ]
    const events = numbered([...run('first', 300), ...run('w', 1, false), ...asking])
    const { first } = await opened(events, { run: { id: 'w', status: 'waiting', created_at: at, started_at: at } })
    expect(first.state.items).toContainEqual(expect.objectContaining({ kind: 'approval' }))
    expect(first.state.run?.status).toBe('waiting')
  })
})

it('a page begins after the end of a run, where that is not far', () => {
  const events = numbered([...run('a', 2), ...run('b', 2), ...run('c', 9)]).slice(3)
  expect(events[turnBegin(events, true)]).toMatchObject({ type: 'message.user', message_id: 'u-b' })
  expect(turnBegin(numbered(run('a', 2)), false)).toBe(0)
  expect(turnBegin(numbered([...run('a', 90), ...run('b', 1)]).slice(3), true)).toBe(0)
})
