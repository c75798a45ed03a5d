import { describe, expect, it } from 'vitest'
import type { SandboxState } from '@/api/types'
import { endOf } from './useComputer'

const now = Date.parse('2026-01-01T12:00:00Z')
const sandbox = (fields: Partial<SandboxState>): SandboxState => ({
  status: 'ready',
  reason: null,
  retryable: false,
  has_desktop: true,
  expires_at: '2026-01-01T20:00:00Z',
  ends_at: '2026-01-01T12:04:00Z',
  queue_position: null,
  notice: 'Soon.',
  ...fields,
})

describe('the end of a computer', () => {
  it('is told with its minutes, and whether using it helps', () => {
    expect(endOf(sandbox({}), now)).toEqual({ minutes: 4, canKeep: true })
    expect(endOf(sandbox({ expires_at: '2026-01-01T12:04:00Z' }), now)).toEqual({ minutes: 4, canKeep: false })
  })
  it('is not spoken of while it is far, or the computer does not run', () => {
    expect(endOf(sandbox({ notice: null }), now)).toBeNull()
    expect(endOf(sandbox({ status: 'paused' }), now)).toBeNull()
    expect(endOf(null, now)).toBeNull()
  })
})
