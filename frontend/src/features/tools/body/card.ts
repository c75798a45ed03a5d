import type { BodyReference, Display } from '@/api/types'

/** What a tool card needs to know of a call; the transcript's tool items are such. */
export interface ToolCard {
  /** No other call of the conversation has it. */
  readonly key: string
  readonly callId: string
  readonly name: string
  /** Of what kind the agent is that works on it. */
  readonly agentKind?: string | null
  readonly arguments: Readonly<Record<string, unknown>>
  readonly phrase: string
  readonly outcome: 'asking' | 'approved' | 'running' | 'succeeded' | 'failed' | 'refused' | 'skipped' | 'cut'
  /** When it began to run; null while the computer it runs on is awaited. */
  readonly startedAt: string | null
  readonly durationMs: number | null
  readonly output: string
  readonly preview: string
  readonly display: Display | null
  readonly body: (BodyReference & { readonly seq: number }) | null
}

/** It is to run as soon as its computer is there, and has not begun. */
export function awaitsComputer({ outcome, startedAt }: Pick<ToolCard, 'outcome' | 'startedAt'>): boolean {
  return outcome === 'running' && startedAt === null
}
