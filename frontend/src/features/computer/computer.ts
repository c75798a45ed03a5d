import type { ComputerStatus } from '@/api/types'
import type { Driver } from './useControl'

/** What the panel needs to know of the computer; the transcript's view of it is such. */
export interface Computer {
  readonly status: ComputerStatus | 'queued'
  readonly reason: string | null
  readonly hasDesktop: boolean
  /** Who controls it, as the stream told last; undefined where it has not. */
  readonly driver?: Driver | null | undefined
  readonly queuePosition: number | null
  /** It waits for another one of its user's rather than for room. */
  readonly isAtOwnLimit: boolean
  /** It ends soon: at `endsAt` unless it is used, at `expiresAt` in any case. */
  readonly warning: { readonly endsAt: string; readonly expiresAt: string | null } | null
}
