import type { BackgroundFinishedEvent, WireEvent } from '@/api/types'

export type BackgroundState = 'running' | BackgroundFinishedEvent['state']
/** A command in the background of the computer, as the conversation told of it. */
export interface BackgroundCommand {
  readonly id: string
  readonly command: string
  readonly startedAt: string
  readonly timeoutS: number | null
  readonly state: BackgroundState
  readonly exitCode: number | null
  readonly preview: string
  readonly durationMs: number | null
  /** The event whose body is all it wrote, where the preview is not all. */
  readonly bodySeq: number | null
}

/** The commands after one more event; the newest one is the last. */
export function withBackground(commands: readonly BackgroundCommand[], event: WireEvent): readonly BackgroundCommand[] {
  if (event.type === 'background.started') {
    const { background_id: id, command, at: startedAt, timeout_s: timeoutS } = event
    const open = { state: 'running' as const, exitCode: null, preview: '', durationMs: null, bodySeq: null }
    // A short one may have ended before its start was stored.
    return commands.some((one) => one.id === id)
      ? commands
      : [...commands, { id, command, startedAt, timeoutS, ...open }]
  }
  if (event.type !== 'background.finished') return commands
  const { background_id: id, command, state, exit_code: exitCode, preview, duration_ms: durationMs } = event
  const told = { state, exitCode, preview, durationMs, bodySeq: event.body ? event.seq : null }
  const at = commands.findIndex((one) => one.id === id)
  const known = commands[at]
  if (known) return commands.with(at, { ...known, ...told })
  const startedAt = new Date(Date.parse(event.at) - durationMs).toISOString()
  return [...commands, { id, command, startedAt, timeoutS: null, ...told }]
}

const SHOWN = 80
/** One line that tells a command from others. */
export function shortCommand(command: string): string {
  const line = command.trim().replace(/\s+/g, ' ')
  return line.length > SHOWN ? `${line.slice(0, SHOWN).trimEnd()}…` : line
}
