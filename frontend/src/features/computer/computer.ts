import type { ComputerStatus } from '@/api/types'

/** What the panel needs to know of the computer; the transcript's view of it is such. */
export interface Computer {
  readonly status: ComputerStatus | 'queued'
  readonly reason: string | null
  readonly hasDesktop: boolean
  readonly queuePosition: number | null
}
