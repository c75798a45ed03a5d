import type { ApiError } from '@/api/problems'

export type StreamTrouble = 'tooMany' | 'restarting' | 'reconnecting' | 'unreachable'

/** Why the stream is not there, in the words the page has for it. No answer at all may be either side's fault. */
export function streamTrouble(error: Pick<ApiError, 'status'> | null): StreamTrouble {
  if (!error) return 'reconnecting'
  if (error.status === 429) return 'tooMany'
  if (error.status === 0) return 'unreachable'
  return error.status >= 500 ? 'restarting' : 'reconnecting'
}
