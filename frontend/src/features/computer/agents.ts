import type { ToolCard } from '@/features/tools'

/** What the panel needs to know of an agent that works for the one the person talks to. */
export interface AgentAtWork {
  /** That of the call it works on. */
  readonly key: string
  readonly name: string
  readonly kind: string | null
  readonly state: 'working' | 'resting' | 'done' | 'failed' | 'stopped'
  /** What it does now, or did last. */
  readonly latest: ToolCard | null
  readonly calls: number
  /** What it said last. */
  readonly said: string
}
