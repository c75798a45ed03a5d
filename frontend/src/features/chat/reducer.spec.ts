import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { activeFrom, shownItems } from './order'
import { HANDED_OVER, reduce } from './reducer'
import { emptyTranscript, type Transcript } from './transcript'

type Loose = { type: WireEvent['type'] } & Record<string, unknown>
const base = { at: '2026-01-01T00:00:00Z', session_id: 's', run_id: 'r' }
const usage = { input: 1, cached: 0, output: 2, thinking: 0, cache_write: 0, cost: null, known_cost: 0, by_model: {} }
const stored = (seq: number, fields: Loose): WireEvent => ({ ...base, seq, ...fields }) as unknown as WireEvent
const live = (fields: Loose): WireEvent => ({ ...base, seq: null, ...fields }) as unknown as WireEvent
const play = (events: readonly WireEvent[], from: Transcript = emptyTranscript): Transcript =>
  events.reduce(reduce, from)

const user = (seq: number, text = 'hello'): WireEvent =>
  stored(seq, { type: 'message.user', message_id: `u${seq}`, text, attachments: [], client_message_id: null })
const delta = (offset: number, text: string, message = 'm', seenSeq = 0): WireEvent =>
  live({ type: 'message.delta', message_id: message, offset, text, seen_seq: seenSeq })
const completed = (seq: number, text: string, message = 'm'): WireEvent =>
  stored(seq, { type: 'message.completed', message_id: message, text, turn: 0, partial: false, seen_seq: 0 })
const started = (seq: number): WireEvent =>
  stored(seq, { type: 'run.started', message_id: 'u', model: 'x', worker: 'w', attempt: 1 })
const finished = (seq: number, status = 'completed'): WireEvent =>
  stored(seq, { type: 'run.finished', status, reason: null, retryable: false, usage, files: [], duration_ms: 5 })
const called = (seq: number, call = 'c'): WireEvent =>
  stored(seq, {
    type: 'tool.called',
    call_id: call,
    name: 'shell_exec',
    arguments: { command: 'ls' },
    phrase: 'Running ls',
    parent_call_id: null,
    needs_computer: true,
    read_only: false,
    turn: 0,
    seen_seq: 0,
  })
const done = (seq: number, call = 'c'): WireEvent =>
  stored(seq, {
    type: 'tool.finished',
    call_id: call,
    success: true,
    preview: 'a.txt',
    body: null,
    duration_ms: 7,
    display: null,
  })
const output = (offset: number, text: string, call = 'c'): WireEvent =>
  live({ type: 'tool.output', call_id: call, offset, text })
const shownText = (state: Transcript): string =>
  [...state.items, ...state.live].map((item) => ('text' in item ? item.text : '')).join('|')

describe('message deltas', () => {
  it('append at their offset in code points', () => {
    expect(shownText(play([delta(0, 'a😀'), delta(2, '界'), delta(3, '!')]))).toBe('a😀界!')
  })
  it('seen before change nothing', () => {
    const state = play([delta(0, 'one '), delta(4, 'two')])
    expect(reduce(state, delta(0, 'one '))).toBe(state)
    expect(reduce(state, delta(4, 'two'))).toBe(state)
  })
  it('that overlap keep the whole once', () => {
    expect(shownText(play([delta(0, 'abcd'), delta(2, 'cdef')]))).toBe('abcdef')
  })
  it('behind a gap are refused and counted', () => {
    const state = play([delta(0, 'ab'), delta(5, 'x')])
    expect(shownText(state)).toBe('ab')
    expect(state.gaps).toBe(1)
  })
  it('at offset 0 with another text replace what was shown', () => {
    expect(shownText(play([delta(0, 'first try'), delta(0, 'second')]))).toBe('second')
  })
  it('after the completed message are ignored', () => {
    const state = play([completed(1, 'whole')])
    expect(reduce(state, delta(0, 'who'))).toBe(state)
  })
})

describe('stored events', () => {
  it('seen before change nothing', () => {
    const state = play([user(1), started(2)])
    expect(reduce(state, user(1))).toBe(state)
  })
  it('that skip a number are refused and counted', () => {
    const state = play([user(1), user(3)])
    expect(state.lastSeq).toBe(1)
    expect(state.gaps).toBe(1)
  })
  it('of an unknown type only move the number', () => {
    const state = play([stored(1, { type: 'plan.unheard' as WireEvent['type'], plan: [] })])
    expect(state).toEqual({ ...emptyTranscript, lastSeq: 1 })
  })
  it('settle a message in the place a reader of the history sees it', () => {
    const watched = play([started(1), delta(0, 'ans'), user(2, 'wait'), delta(3, 'wer'), completed(3, 'answer')])
    const reloaded = play([started(1), user(2, 'wait'), completed(3, 'answer')])
    expect(watched).toEqual(reloaded)
  })
  it('of an empty message show nothing', () => {
    expect(play([completed(1, '')]).items).toEqual([])
  })
})

describe('a run', () => {
  it('that ends cuts what was still running and drops unfinished text', () => {
    const ready = stored(2, { type: 'sandbox.updated', status: 'ready', reason: null, has_desktop: true })
    const state = play([started(1), ready, called(3), delta(0, 'half'), finished(4, 'stopped')])
    expect(state.items.map((item) => (item.kind === 'tool' ? item.outcome : item.kind))).toEqual(['cut', 'end'])
    expect([state.live, state.run?.status]).toEqual([[], 'stopped'])
  })
  it('taken over by another worker starts its text anew', () => {
    const state = play([started(1), delta(0, 'half'), started(2), delta(0, 'other', 'n')])
    expect(shownText(state)).toBe('|other')
    expect(state.items).toMatchObject([{ kind: 'note', code: HANDED_OVER }])
  })
})

describe('what is said while the agent works', () => {
  const answered = (seq: number, text: string, seenSeq: number): WireEvent =>
    stored(seq, { type: 'message.completed', message_id: 'm', text, turn: 0, partial: true, seen_seq: seenSeq })
  const order = (state: Transcript): string =>
    shownItems(state)
      .map((item) => ('text' in item ? item.text : item.kind))
      .join(' ')

  it('stands after the answer it cut, live and stored', () => {
    const cut = play([user(1, 'question'), started(2), delta(0, 'half an '), user(3, 'stop that')])
    expect(order(cut)).toBe('question half an  stop that')
    const going = play([delta(8, 'answer')], cut)
    expect(order(going)).toBe('question half an answer stop that')
    expect(activeFrom(shownItems(going))).toBe(1)
    const settled = play([answered(4, 'half an answer', 1)], going)
    expect(order(settled)).toBe('question half an answer stop that')
    const next = play([delta(0, 'as you wish', 'n')], settled)
    expect(order(next)).toBe('question half an answer stop that as you wish')
  })
  it.each([
    ['first', [user(1, 'question'), started(2)]],
    ['later', [user(1, 'question'), started(2), called(3), done(4)]],
  ])('stands after the answer of a %s step in a page that comes while that is written', (_, before) => {
    const seq = before.length + 1
    const pieces = [delta(0, 'half an ', 'm', 1), delta(8, 'answer', 'm', 1)]
    const stays = play([...before, pieces[0]!, user(seq, 'and this'), pieces[1]!])
    const comes = play([delta(0, 'half an answer', 'm', 1)], play([...before, user(seq, 'and this')]))
    expect(order(comes)).toBe(order(stays))
    expect(order(comes)).toMatch(/half an answer and this$/)
    expect(activeFrom(shownItems(comes))).toBe(activeFrom(shownItems(stays)))
    const settled = [answered(seq + 1, 'half an answer', 1), delta(0, 'and that', 'n')]
    expect(order(play(settled, comes))).toMatch(/half an answer and this and that$/)
  })
  it('stands after the calls of the turn that had not read it', () => {
    const state = play([
      user(1, 'question'),
      started(2),
      user(3, 'and this'),
      stored(4, { ...(called(4) as object as Loose), seen_seq: 1 }),
    ])
    expect(order(state)).toBe('question tool and this')
  })
  it('stays where it was when nothing says what was read', () => {
    expect(order(play([user(1, 'a'), started(2), user(3, 'b'), completed(4, 'c')]))).toBe('a b c')
  })
})

describe('a call that was cut', () => {
  it('is stopped, not failed', () => {
    const cut = stored(2, { ...(done(2) as object as Loose), success: false, cancelled: true })
    expect(play([called(1), cut]).items).toMatchObject([{ outcome: 'cut', preview: 'a.txt' }])
  })
})

describe('the computer', () => {
  it('tells its place in the line', () => {
    const told = { reason: null, expires_at: null, has_desktop: true }
    const state = play([stored(1, { type: 'sandbox.updated', status: 'starting', queue_position: 3, ...told })])
    expect(state.computer).toMatchObject({ status: 'queued', reason: null, hasDesktop: true, queuePosition: 3 })
  })
})

describe('tool output', () => {
  it('is shown live once and gives way to the result', () => {
    const running = play([called(1), output(0, 'a\n'), output(0, 'a\n'), output(1, '\nb'), output(3, 'c')])
    expect(running.items[0]).toMatchObject({ output: 'a\nbc', outcome: 'running' })
    expect(play([done(2)], running).items[0]).toMatchObject({ output: '', preview: 'a.txt', outcome: 'succeeded' })
  })
  it('joined in the middle starts where it joins', () => {
    expect(play([called(1), output(100, 'late')]).items[0]).toMatchObject({ output: 'late' })
  })
  it('of a call id used again belongs to the latest call', () => {
    const state = play([called(1), done(2), called(3), output(0, 'x')])
    expect(state.items.map((item) => item.kind === 'tool' && item.outcome)).toEqual(['succeeded', 'running'])
  })
})

/** A session as the server tells it: each message in pieces, then whole. */
const story = fc
  .array(
    fc.oneof(
      fc.record({ say: fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { minLength: 1, maxLength: 6 }) }),
      fc.record({ run: fc.boolean() }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => {
    const events: WireEvent[] = [user(1), started(2)]
    let seq = 2
    parts.forEach((part, index) => {
      if ('say' in part) {
        let offset = 0
        for (const piece of part.say) {
          events.push(delta(offset, piece, `m${index}`))
          offset += [...piece].length
        }
        events.push(completed((seq += 1), part.say.join(''), `m${index}`))
      } else {
        events.push(called((seq += 1), `c${index}`), output(0, 'out', `c${index}`))
        if (part.run) events.push(done((seq += 1), `c${index}`))
      }
    })
    events.push(finished(seq + 1))
    return events
  })

const storedOnly = (events: readonly WireEvent[]): WireEvent[] => events.filter((event) => event.seq !== null)

/** What a server sends to a reader who comes back: missed stored events, then the text so far of each open message. */
function resume(events: readonly WireEvent[], upTo: number, after: number): WireEvent[] {
  const seen = events.slice(0, upTo)
  const settled = new Set(seen.flatMap((event) => (event.type === 'message.completed' ? [event.message_id] : [])))
  const open = new Map<string, string>()
  for (const event of seen)
    if (event.type === 'message.delta' && !settled.has(event.message_id))
      open.set(event.message_id, (open.get(event.message_id) ?? '') + event.text)
  return [
    ...storedOnly(seen).filter((event) => (event.seq ?? 0) > after),
    ...[...open].map(([id, text]) => delta(0, text, id)),
  ]
}

describe('any cut and re-delivery', () => {
  it('gives the transcript an undisturbed reader has', () => {
    fc.assert(
      fc.property(story, fc.array(fc.tuple(fc.nat(60), fc.nat(10), fc.nat(10)), { maxLength: 8 }), (events, cuts) => {
        let state = emptyTranscript
        let position = 0
        for (const [steps, missed, doubled] of cuts) {
          const end = Math.min(position + steps, events.length)
          state = play(events.slice(position, end), state)
          position = Math.min(end + missed, events.length)
          state = play(resume(events, position, Math.max(0, state.lastSeq - doubled)), state)
        }
        state = play(events.slice(position), state)
        expect({ ...state, gaps: 0 }).toEqual(play(storedOnly(events)))
      }),
      { numRuns: 500 },
    )
  })
  it('of single events changes nothing', () => {
    fc.assert(
      fc.property(story, fc.infiniteStream(fc.nat(2)), (events, repeats) => {
        const doubled = events.flatMap((event) => Array<WireEvent>(1 + (repeats.next().value ?? 0)).fill(event))
        expect(play(doubled)).toEqual(play(events))
      }),
    )
  })
})
