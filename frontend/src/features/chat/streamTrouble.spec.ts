import { describe, expect, it } from 'vitest'
import { streamTrouble } from './streamTrouble'

describe('why the stream is not there', () => {
  it.each([
    [null, 'reconnecting'],
    [{ status: 0 }, 'unreachable'],
    [{ status: 429 }, 'tooMany'],
    [{ status: 503 }, 'restarting'],
  ] as const)('%o is %s', (error, told) => expect(streamTrouble(error)).toBe(told))
})
