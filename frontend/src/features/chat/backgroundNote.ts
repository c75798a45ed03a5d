import type { BackgroundFinishedEvent } from '@/api/types'
import { shortCommand } from '@/features/background'
import { showInvisible } from '@/shared/lib/invisibleCharacters'
import type { NoteItem } from './transcript'

/** How a command in the background ended. */
export function backgroundNote(key: string, event: BackgroundFinishedEvent): NoteItem {
  const command = showInvisible(shortCommand(event.command))
  const code = `background.${event.exit_code === 0 ? 'done' : event.state}`
  const params = { command, code: String(event.exit_code ?? '') }
  return { kind: 'note', key, tone: 'notice', text: command, code, params }
}
