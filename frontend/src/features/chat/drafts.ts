import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import { DRAFT, recall, remember } from '@/shared/lib/storage'

export interface Upload {
  readonly id: string
  readonly name: string
  readonly progress: number
  readonly path: string | null
  readonly problem: unknown
  readonly file: File
}

/** The files that go with the next message of one conversation. */
export interface UploadTray {
  /** Null until the conversation has begun. */
  sessionId: string | null
  readonly list: ShallowRef<readonly Upload[]>
  /** Sends once all have arrived: at once, or behind the step at hand. */
  readonly sends: Ref<'now' | 'later' | null>
}

const trays = new Map<string, UploadTray>()
const keyOf = (writer: string | null, sessionId: string | null): string =>
  `${DRAFT}${writer ?? ''}:${sessionId ?? 'new'}`

/** What `writer` began to write to a conversation, or to one that is yet to begin: the next account here has its own. */
export function recallDraft(writer: string | null, sessionId: string | null): string {
  return recall(keyOf(writer, sessionId)) ?? ''
}

export function keepDraft(writer: string | null, sessionId: string | null, text: string): void {
  remember(keyOf(writer, sessionId), text || null)
}

export function trayOf(writer: string | null, sessionId: string | null): UploadTray {
  const key = keyOf(writer, sessionId)
  const tray = trays.get(key) ?? { sessionId, list: shallowRef([]), sends: ref(null) }
  trays.set(key, tray)
  return tray
}

/** The conversation is gone: what was being written there is for the next one. Answers whether there was anything. */
export function moveDraft(writer: string | null, sessionId: string): boolean {
  const text = recallDraft(writer, sessionId)
  if (text.trim() === '') return false
  keepDraft(writer, null, [recallDraft(writer, null), text].filter(Boolean).join('\n\n'))
  keepDraft(writer, sessionId, '')
  return true
}

/** The conversation has begun: what was written and attached for it goes along. */
export function adoptDraft(writer: string | null, sessionId: string): void {
  keepDraft(writer, sessionId, recallDraft(writer, null))
  keepDraft(writer, null, '')
  const tray = trayOf(writer, null)
  trays.delete(keyOf(writer, null))
  tray.sessionId = sessionId
  trays.set(keyOf(writer, sessionId), tray)
}
