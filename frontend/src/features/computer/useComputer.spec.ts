import { describe, expect, it } from 'vitest'
import { endOf } from './useComputer'

const now = Date.parse('2026-01-01T12:00:00Z')
const warning = { endsAt: '2026-01-01T12:04:00Z', expiresAt: '2026-01-01T20:00:00Z' }

describe('the end of a computer', () => {
  it('is told with its minutes, and whether using it helps', () => {
    expect(endOf({ warning }, now)).toEqual({ minutes: 4, canKeep: true })
    expect(endOf({ warning: { ...warning, expiresAt: warning.endsAt } }, now)).toEqual({ minutes: 4, canKeep: false })
  })
  it('is not spoken of while nothing warns of it', () => {
    expect(endOf({ warning: null }, now)).toBeNull()
  })
})
