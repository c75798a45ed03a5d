import { describe, expect, it } from 'vitest'
import type { WireEvent } from '@/api/types'
import { shortCommand, withBackground, type BackgroundCommand } from './commands'

const envelope = { session_id: 's', run_id: 'r' }
const started: WireEvent = {
  ...envelope,
  type: 'background.started',
  seq: 4,
  at: '2026-01-01T00:00:00Z',
  background_id: 'bg_1',
  call_id: 'c',
  command: 'make',
  timeout_s: 300,
}
const finished: WireEvent = {
  ...envelope,
  type: 'background.finished',
  seq: 9,
  at: '2026-01-01T00:01:00Z',
  background_id: 'bg_1',
  command: 'make',
  exit_code: 2,
  preview: 'no rule',
  state: 'ended',
  duration_ms: 60_000,
  body: { size: 9000, media_type: 'text/plain', digest: '', parts: [] },
  read_by: null,
}
const after = (...events: WireEvent[]) => events.reduce<readonly BackgroundCommand[]>(withBackground, [])

describe('commands in the background', () => {
  it('run from their start on and end with what they wrote', () => {
    expect(after(started)).toMatchObject([{ id: 'bg_1', state: 'running', startedAt: started.at, timeoutS: 300 }])
    expect(after(started, finished)).toMatchObject([
      { id: 'bg_1', state: 'ended', exitCode: 2, preview: 'no rule', durationMs: 60_000, bodySeq: 9, timeoutS: 300 },
    ])
  })

  it('are there once also where the end is stored before the start, or alone', () => {
    expect(after(finished, started)).toMatchObject([
      { id: 'bg_1', state: 'ended', startedAt: '2026-01-01T00:00:00.000Z' },
    ])
  })

  it('are called by what they begin with, in one line', () => {
    expect(shortCommand('make all')).toBe('make all')
    expect(shortCommand('\ncd a\n  make\n')).toBe('cd a make')
    expect(shortCommand('x'.repeat(100))).toHaveLength(81)
    expect(shortCommand(`${'x'.repeat(79)} and more`)).toBe(`${'x'.repeat(79)}…`)
  })
})
