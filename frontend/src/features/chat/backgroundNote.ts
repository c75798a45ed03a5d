import type { BackgroundFinishedEvent } from '@/api/types'
import { shortCommand } from '@/features/background'
import { allSeen } from '@/shared/lib/unseen'
import type { NoteItem } from './transcript'

/** How a command in the background ended. */
export function backgroundNote(key: string, event: BackgroundFinishedEvent): NoteItem {
  const command = allSeen(shortCommand(event.command))
  const code = `background.${event.exit_code === 0 ? 'done' : event.state}`
  const params = { command, code: String(event.exit_code ?? '') }
  return { kind: 'note', key, tone: 'notice', text: command, code, params }
}
