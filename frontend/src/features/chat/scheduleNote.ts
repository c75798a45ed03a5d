import type { ScheduleFiredEvent } from '@/api/types'
import type { NoteItem } from './transcript'

/** That a schedule sent what follows, and what it makes up for. */
export function scheduleNote(key: string, event: ScheduleFiredEvent): NoteItem {
  const { missed, missed_from: from, missed_to: to } = event
  const head = { kind: 'note', key, tone: 'notice' } as const
  if (missed === 0 || from === null || to === null) {
    const code = event.due_at === null ? 'schedule.now' : 'schedule.due'
    return { ...head, text: 'Sent by a schedule.', code, params: {} }
  }
  const text = `Sent by a schedule, which was missed ${missed} times.`
  return { ...head, text, code: missed === 1 ? 'schedule.missedOnce' : 'schedule.missed', params: { missed, from, to } }
}
