import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { activeFrom, shownItems } from './order'
import { reduce } from './reducer'
import { emptyTranscript } from './transcript'

const piece = (type: string, offset: number, text: string, at = '2026-01-01T00:00:00Z'): WireEvent =>
  ({ type, at, seq: null, session_id: 's', run_id: 'r', message_id: type, offset, text, seen_seq: 0 }) as WireEvent

describe('what is being written', () => {
  it('is an answer from its first piece on, with the thought before it over', () => {
    const thoughts = [piece('thinking.delta', 0, 'hm'), piece('thinking.delta', 2, ', well')]
    const thinking = thoughts.reduce(reduce, emptyTranscript)
    expect(thinking.live).toMatchObject([{ kind: 'thinking', complete: false }])
    const speaking = reduce(thinking, piece('message.delta', 0, 'So', '2026-01-01T00:00:02.500Z'))
    expect(speaking.live).toMatchObject([
      { kind: 'thinking', text: 'hm, well', complete: true, durationMs: 2500 },
      { kind: 'assistant', text: 'So', complete: false },
    ])
    expect(activeFrom(shownItems(speaking))).toBe(1)
  })
  it('ends a thought in its middle too', () => {
    const events = [
      piece('message.delta', 0, 'So'),
      piece('thinking.delta', 0, 'hm'),
      piece('message.delta', 2, ', this'),
    ]
    const { live } = events.reduce(reduce, emptyTranscript)
    expect(live).toMatchObject([
      { text: 'So, this', complete: false },
      { text: 'hm', complete: true },
    ])
  })
})
