import { effectScope, ref, shallowRef, watch, type Ref, type ShallowRef } from 'vue'
import { ApiError } from '@/api/problems'
import { DRAFT, recall, recallInTab, recallJson, remember, rememberInTab } from '@/shared/lib/storage'
import { createId } from '@/shared/lib/ids'

export interface Upload {
  readonly id: string
  readonly name: string
  readonly progress: number
  readonly path: string | null
  readonly problem: unknown
  /** Null after a reload: it has arrived, and only its place is known, or it was cut off and has to be chosen again. */
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
  if (recallDraft(writer, sessionId) === text) return
  remember(keyOf(writer, sessionId), text || null)
  noteEdit(writer, sessionId)
}

/** Grows with each change that is made here to a draft. */
export const edits = ref(0)
/** Grows where a draft is replaced by what was written in another tab or on another device. */
export const replacements = ref(0)

/** The version of a draft that the server had last, and since when it is another one here; null: it is the same. */
export interface DraftState {
  readonly version: number
  readonly changedAt: number | null
  /** What was sent there last, of which no answer has come: the server may have it all the same. */
  readonly unanswered?: Written
}
const isState = (value: unknown): value is DraftState => {
  const { version, changedAt, unanswered } = (value ?? {}) as Partial<Record<keyof DraftState, unknown>>
  if (unanswered !== undefined && !isWritten(unanswered)) return false
  return Number.isInteger(version) && (changedAt === null || typeof changedAt === 'number')
}
const stateKeyOf = (writer: string | null, sessionId: string): string => `${keyOf(writer, sessionId)}:state`

export function recallState(writer: string | null, sessionId: string): DraftState {
  return recallJson(stateKeyOf(writer, sessionId), isState, { version: 0, changedAt: 0 })
}
export function keepState(writer: string | null, sessionId: string, state: DraftState | null): void {
  const isNothing = state === null || (state.version === 0 && state.changedAt === null)
  remember(stateKeyOf(writer, sessionId), isNothing ? null : JSON.stringify(state))
}
/** Whether this browser keeps what it is given. */
export function keepsDrafts(writer: string | null, sessionId: string): boolean {
  keepState(writer, sessionId, recallState(writer, sessionId))
  return recall(stateKeyOf(writer, sessionId)) !== null
}
function noteEdit(writer: string | null, sessionId: string | null): void {
  if (sessionId === null) return
  keepState(writer, sessionId, { ...recallState(writer, sessionId), changedAt: Date.now() })
  edits.value += 1
}

/**
 * Files that have arrived wait in the workspace for the message that names them, also over a reload. Those that had not
 * are named to this tab alone, since another one may still be sending them.
 */
export interface Arrived {
  readonly name: string
  readonly path: string
}
const filesKeyOf = (writer: string | null, sessionId: string | null): string => `${keyOf(writer, sessionId)}:files`
const areArrived = (value: unknown): value is Arrived[] =>
  Array.isArray(value) &&
  value.every((one: Partial<Arrived> | null) => typeof one?.name === 'string' && typeof one.path === 'string')
const areNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string')

export function keepFiles(writer: string | null, sessionId: string | null, list: readonly Upload[]): void {
  const arrived = list.flatMap(({ name, path }) => (path === null ? [] : [{ name, path }]))
  const cut = list.flatMap(({ name, path }) => (path === null ? [name] : []))
  const key = filesKeyOf(writer, sessionId)
  const kept = sessionId !== null && arrived.length > 0 ? JSON.stringify(arrived) : null
  const isEdit = recall(key) !== kept
  remember(key, kept)
  rememberInTab(key, cut.length > 0 ? JSON.stringify(cut) : null)
  if (isEdit) noteEdit(writer, sessionId)
}

/** The files that are kept for a conversation, and have arrived. */
export function recallArrived(writer: string | null, sessionId: string): readonly Arrived[] {
  return recallJson(filesKeyOf(writer, sessionId), areArrived, [])
}
export const arrivedUpload = ({ name, path }: Arrived): Upload => ({
  ...{ id: createId(), name, path, progress: 1, problem: null, file: null },
})

/** A page can't read a file again by itself: whoever attached it has to choose it once more. */
const CUT = new ApiError(0, 'upload_cut', '')

function recallFiles(writer: string | null, sessionId: string | null): Upload[] {
  const key = filesKeyOf(writer, sessionId)
  const kept = recallJson(key, areArrived, [])
  const cut = recallJson(key, areNames, [], recallInTab)
  return [
    ...kept.map(arrivedUpload),
    ...cut.map((name) => ({ id: createId(), name, path: null, progress: 0, problem: CUT, file: null })),
  ]
}

export function trayOf(writer: string | null, sessionId: string | null): UploadTray {
  const key = keyOf(writer, sessionId)
  const known = trays.get(key)
  if (known) return known
  const tray: UploadTray = { sessionId, list: shallowRef(recallFiles(writer, sessionId)), sends: ref(null) }
  // Also what happens to it while nobody looks at it.
  effectScope(true).run(() => {
    const named = (): string => JSON.stringify([tray.sessionId, tray.list.value.map(({ name, path }) => [name, path])])
    watch(named, () => keepFiles(writer, tray.sessionId, tray.list.value), { flush: 'sync' })
  })
  trays.set(key, tray)
  return tray
}

const editKeyOf = (writer: string | null, sessionId: string): string => `${keyOf(writer, sessionId)}:edit`

/** What a message is being changed to, until that is saved or left. */
export function recallEdit(writer: string | null, sessionId: string, messageId: string): string | null {
  return recall(`${editKeyOf(writer, sessionId)}:${messageId}`)
}
/** Null: it is over. */
export function keepEdit(writer: string | null, sessionId: string, messageId: string, text: string | null): void {
  remember(`${editKeyOf(writer, sessionId)}:${messageId}`, text)
  remember(editKeyOf(writer, sessionId), text === null ? null : messageId)
}
/** The message that was being changed last, and is still. */
export function recallEdited(writer: string | null, sessionId: string): string | null {
  return recall(editKeyOf(writer, sessionId))
}

/** What is written, or was elsewhere, with its files. */
export interface Written {
  readonly text: string
  readonly files: readonly Arrived[]
}
const isWritten = (value: unknown): value is Written => {
  const { text, files } = (value ?? {}) as Partial<Record<keyof Written, unknown>>
  return typeof text === 'string' && areArrived(files)
}
const otherKeyOf = (writer: string | null, sessionId: string): string => `${keyOf(writer, sessionId)}:other`

/** A draft that was written elsewhere at the same time, or the one here that a newer one from there took the place of. */
export function recallOther(writer: string | null, sessionId: string): Written | null {
  return recallJson<Written | null>(otherKeyOf(writer, sessionId), isWritten, null)
}
export function keepOther(writer: string | null, sessionId: string, other: Written | null): void {
  remember(otherKeyOf(writer, sessionId), other && JSON.stringify(other))
}
/** Where a tab finds that another one has changed them. */
export function draftKeys(writer: string | null, sessionId: string): readonly string[] {
  return [keyOf(writer, sessionId), filesKeyOf(writer, sessionId), otherKeyOf(writer, sessionId)]
}

/** The conversation is gone: what was being written there is for the next one. Answers whether there was anything. */
export function moveDraft(writer: string | null, sessionId: string): boolean {
  const texts = [recallDraft(writer, sessionId), recallOther(writer, sessionId)?.text ?? '']
  const written = texts.filter((text) => text.trim() !== '')
  if (written.length === 0) return false
  keepDraft(writer, null, [recallDraft(writer, null), ...written].filter(Boolean).join('\n\n'))
  keepDraft(writer, sessionId, '')
  keepOther(writer, sessionId, null)
  keepState(writer, sessionId, null)
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
  keepFiles(writer, null, [])
  keepFiles(writer, sessionId, tray.list.value)
}
