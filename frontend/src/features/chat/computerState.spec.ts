import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SandboxState, SandboxUpdatedEvent } from '@/api/types'
import { withSandboxAnswer, withSandboxEvent } from './computerState'
import { emptyTranscript, type Transcript } from './transcript'

type Told = SandboxUpdatedEvent & { readonly seq: number }
const event = (seq: number, status: Told['status'], fields: Partial<Told> = {}): Told => ({
  seq,
  type: 'sandbox.updated',
  at: '',
  session_id: 's',
  run_id: null,
  status,
  reason: null,
  expires_at: null,
  has_desktop: true,
  queue_position: null,
  queue_reason: null,
  ...fields,
})
const answer = (seq: number, status: SandboxState['status'], fields: Partial<SandboxState> = {}): SandboxState => ({
  seq,
  status,
  reason: null,
  retryable: false,
  has_desktop: true,
  expires_at: '2026-01-01T20:00:00Z',
  ends_at: '2026-01-01T12:04:00Z',
  queue_position: null,
  queue_reason: null,
  notice: null,
  ...fields,
})
const isEvent = (told: Told | SandboxState): told is Told => 'type' in told
const play = (...told: (Told | SandboxState)[]): Transcript['computer'] =>
  told.reduce<Transcript>(
    (state, one) => (isEvent(one) ? withSandboxEvent(state, one) : withSandboxAnswer(state, one)),
    emptyTranscript,
  ).computer

describe('the computer, told by events and answers', () => {
  it('stays ready when a look from before comes in late', () => {
    expect(play(event(3, 'starting'), event(4, 'ready'), answer(3, 'starting')).status).toBe('ready')
    expect(play(event(2, 'ready'), answer(1, 'none')).status).toBe('ready')
  })
  it('is what a look found after the last event', () => {
    expect(play(event(4, 'ready'), answer(4, 'paused')).status).toBe('paused')
    expect(play(event(4, 'ready'), answer(9, 'none')).status).toBe('none')
  })
  it('is not set back by an event that the look already knew of', () => {
    expect(play(answer(4, 'ready'), event(3, 'starting')).status).toBe('ready')
    expect(play(answer(4, 'ready'), event(5, 'gone')).status).toBe('gone')
  })
  it('tells one that waits for room from one that waits for another of its user', () => {
    const waiting = (queue_reason: 'capacity' | 'user_limit') =>
      event(3, 'starting', { queue_position: 1, queue_reason })
    expect(play(waiting('capacity'))).toMatchObject({ status: 'queued', isAtOwnLimit: false })
    expect(play(waiting('user_limit'))).toMatchObject({ status: 'queued', isAtOwnLimit: true })
    expect(play(waiting('user_limit'), event(4, 'starting'))).toMatchObject({ status: 'starting', isAtOwnLimit: false })
  })
  it('goes on starting while it is nowhere yet, as long as a run waits for it', () => {
    const run = { id: 'r', status: 'running' as const, model: null, startedAt: '' }
    const state = withSandboxEvent({ ...emptyTranscript, run }, event(3, 'starting', { queue_position: 2 }))
    expect(withSandboxAnswer(state, answer(3, 'none')).computer.status).toBe('queued')
    const stopped = { ...state, run: { ...run, status: 'stopped' as const } }
    expect(withSandboxAnswer(stopped, answer(3, 'none')).computer.status).toBe('none')
  })
  it('warns of an end only as long as that is the newest of it', () => {
    const near = answer(4, 'ready', { notice: 'Soon.' })
    expect(play(near).warning).toEqual({ endsAt: near.ends_at, expiresAt: near.expires_at })
    expect(play(near, event(5, 'gone')).warning).toBeNull()
    expect(play(answer(4, 'ready')).warning).toBeNull()
  })
  it('comes to the same whenever the answers arrive', () => {
    const statuses = ['ready', 'paused', 'gone', 'failed'] as const
    const history = fc.array(fc.record({ status: fc.constantFrom(...statuses), looked: fc.boolean() }), {
      minLength: 1,
    })
    fc.assert(
      fc.property(history, fc.infiniteStream(fc.nat(5)), (changes, delays) => {
        const events = changes.map(({ status }, index) => event(index + 1, status))
        const late = changes.flatMap(({ status, looked }, index) =>
          looked ? [{ at: index + delays.next().value, told: answer(index + 1, status) }] : [],
        )
        const arriving = events.flatMap((one, index) => [
          one,
          ...late.filter(({ at }) => at === index).map(({ told }) => told),
        ])
        const rest = late.filter(({ at }) => at >= events.length).map(({ told }) => told)
        expect(play(...arriving, ...rest).status).toBe(changes.at(-1)?.status)
      }),
    )
  })
})

it('keeps who controls the computer, whatever else is told of it', () => {
  const driver = { client: 'window-1', holder: 'Anna' }
  const held = { ...emptyTranscript, computer: { ...emptyTranscript.computer, driver } }
  const after = withSandboxAnswer(withSandboxEvent(held, event(3, 'ready')), answer(4, 'ready'))
  expect(after.computer).toMatchObject({ status: 'ready', driver })
})
