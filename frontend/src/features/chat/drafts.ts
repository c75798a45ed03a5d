import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import { DRAFT, recall, recallJson, remember } from '@/shared/lib/storage'
import { createId } from '@/shared/lib/ids'

export interface Upload {
  readonly id: string
  readonly name: string
  readonly progress: number
  readonly path: string | null
  readonly problem: unknown
  /** Null after a reload: it has arrived, and only its place is known. */
  readonly file: File | null
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

/** Files that have arrived wait in the workspace for the message that names them, also over a reload. */
interface Arrived {
  readonly name: string
  readonly path: string
}
const filesKeyOf = (writer: string | null, sessionId: string | null): string => `${keyOf(writer, sessionId)}:files`
const areArrived = (value: unknown): value is Arrived[] =>
  Array.isArray(value) &&
  value.every((one: Partial<Arrived> | null) => typeof one?.name === 'string' && typeof one.path === 'string')

export function keepFiles(writer: string | null, sessionId: string | null, list: readonly Upload[]): void {
  const arrived = list.flatMap(({ name, path }) => (path === null ? [] : [{ name, path }]))
  const isKept = sessionId !== null && arrived.length > 0
  remember(filesKeyOf(writer, sessionId), isKept ? JSON.stringify(arrived) : null)
}

function recallFiles(writer: string | null, sessionId: string | null): Upload[] {
  const kept = recallJson(filesKeyOf(writer, sessionId), areArrived, [])
  return kept.map(({ name, path }) => ({ id: createId(), name, path, progress: 1, problem: null, file: null }))
}

export function trayOf(writer: string | null, sessionId: string | null): UploadTray {
  const key = keyOf(writer, sessionId)
  const tray = trays.get(key) ?? { sessionId, list: shallowRef(recallFiles(writer, sessionId)), sends: ref(null) }
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
