import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { isOnPath, reduceRead, wholePath, type ShownPath } from './path'
import { reduce } from './reducer'
import { emptyTranscript, type Transcript } from './transcript'

type Loose = { type: WireEvent['type'] } & Record<string, unknown>
const base = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const stored = (seq: number, fields: Loose): WireEvent => ({ ...base, seq, ...fields }) as unknown as WireEvent
const user = (seq: number): WireEvent =>
  stored(seq, { type: 'message.user', message_id: `u${seq}`, text: `${seq}`, attachments: [], client_message_id: null })
const said = ({ items }: Transcript): string[] => items.flatMap((item) => (item.kind === 'user' ? [item.text] : []))

const path: ShownPath = { ranges: [[1, 2]], since: 6 }
const read = (events: readonly WireEvent[], way: ShownPath): Transcript =>
  events.reduce((state, event) => reduceRead(state, event, way), emptyTranscript)

describe('a path through the log', () => {
  it('has what stands in its ranges, and all from where it was selected', () => {
    expect([1, 2, 3, 5, 6, 9].filter((seq) => isOnPath(path, seq))).toEqual([1, 2, 6, 9])
    expect(isOnPath(wholePath, 4)).toBe(true)
  })
  it('is read though numbers are missing between', () => {
    const state = read([user(1), user(2), user(7)], path)
    expect(said(state)).toEqual(['1', '2', '7'])
    expect([state.lastSeq, state.gaps]).toEqual([7, 0])
  })
  it('takes what changed the computer beside it, and shows nothing of that', () => {
    const ended = stored(4, {
      type: 'background.finished',
      background_id: 'b',
      command: 'sleep',
      exit_code: 0,
      preview: '',
      state: 'ended',
      duration_ms: 1,
      body: null,
      read_by: null,
    })
    const ready = stored(5, { type: 'sandbox.updated', status: 'ready', reason: null, has_desktop: true })
    const state = read([user(1), ended, ready, user(6)], path)
    expect(state.items.map(({ kind }) => kind)).toEqual(['user', 'user'])
    expect(state.computer.status).toBe('ready')
    // On the path it is told.
    expect(read([user(1), ended], wholePath).items).toHaveLength(2)
  })
})

it('what was at work on another path is over', () => {
  const called = stored(2, {
    type: 'tool.called',
    call_id: 'c',
    name: 'shell_exec',
    arguments: {},
    phrase: '',
    needs_computer: false,
    read_only: false,
    turn: 1,
    seen_seq: 1,
  })
  const started = stored(1, { type: 'run.started', message_id: 'u', model: 'x', worker: 'w', attempt: 1 })
  const selected = stored(3, { type: 'path.selected', path: [[1, 2]], cause: 'edit', message_id: 'u' })
  const state = [started, called, selected].reduce(reduce, emptyTranscript)
  expect(state.run).toBeNull()
  expect(state.items).toMatchObject([{ kind: 'tool', outcome: 'cut' }])
  expect(state.branchesSeq).toBe(3)
})

it('nothing is at work in a conversation that begins with a part of a run', () => {
  const started = stored(2, { type: 'run.started', message_id: 'u1', model: 'm', worker: 'w', attempt: 1 })
  const note = stored(3, { type: 'context.note', kind: 'branched', text: 'Copied.', about: '' })
  expect(reduce(read([user(1)], wholePath), started).run?.status).toBe('running')
  expect(reduce(reduce(read([user(1)], wholePath), started), note).run).toBeNull()
})
