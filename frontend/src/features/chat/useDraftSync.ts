import { useDocumentVisibility, useEventListener } from '@vueuse/core'
import { onScopeDispose, shallowRef, watch, type ShallowRef } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { Draft } from '@/api/types'
import { useAuth } from '@/features/auth'
import { baseName } from '@/shared/lib/format'
import {
  arrivedUpload,
  draftKeys,
  edits,
  keepDraft,
  keepOther,
  keepsDrafts,
  keepState,
  recallArrived,
  recallDraft,
  recallOther,
  recallState,
  replacements,
  trayOf,
  type Arrived,
  type Written,
} from './drafts'
import { isForLater, LATER_MS } from './outbox'
import { isOverLimit } from './useLongWords'

/** Saved once nothing was written for so long, and while somebody writes on and on, after so long all the same. */
export const PAUSE_MS = 1500
const LONGEST_MS = 15_000
/** So often at most in a row is read what was saved elsewhere meanwhile. */
const MOST_ROUNDS = 5
/** What the browser sends on after the page is left is bounded. */
const KEPT_ALIVE = 10_000

const isEmpty = ({ text, files }: Written): boolean => text === '' && files.length === 0
const isSame = (one: Written, other: Written): boolean =>
  one.text === other.text && JSON.stringify(paths(one)) === JSON.stringify(paths(other))
const paths = ({ files }: Written): string[] => files.map(({ path }) => path)
const union = (one: readonly Arrived[], other: readonly Arrived[]): Arrived[] => [
  ...one,
  ...other.filter(({ path }) => one.every((known) => known.path !== path)),
]

/**
 * The draft of a conversation here and on the server: what is written is saved after a pause, and what was written elsewhere
 * is taken over where nothing newer was written here. Of two that differ the newer one is the draft, and the older one is
 * set aside as `other`, until it is used or discarded.
 */
export function useDraftSync(
  writer: string | null,
  sessionId: string,
): {
  other: ShallowRef<Written | null>
  /** Takes the other one as the draft, which is the other one then. */
  useOther: () => void
  dropOther: () => void
  /** A message was sent, here or elsewhere: what stands here may have been it. */
  lookAgain: () => void
} {
  const auth = useAuth()
  const path = `/sessions/${sessionId}/draft`
  const other = shallowRef(recallOther(writer, sessionId))
  const tray = trayOf(writer, sessionId)
  const visibility = useDocumentVisibility()
  let timer = 0
  let editedFrom = 0
  let isOver = false
  let isSyncing = false
  let isWanted = false
  let isToRead = false
  /** There is no place for it: the conversation is gone, the server is an older one, or this browser keeps nothing. */
  let isOff = false

  /** Not as somebody who logged in beside who wrote it. */
  const isWriter = (): boolean => auth.isStillHere() && (auth.user?.id ?? null) === writer
  const present = (): Written => ({ text: recallDraft(writer, sessionId), files: recallArrived(writer, sessionId) })
  function isAhead(): boolean {
    const { version, changedAt } = recallState(writer, sessionId)
    const written = present()
    return changedAt !== null && (version > 0 || !isEmpty(written)) && !isOverLimit(written.text)
  }
  function show({ text, files }: Written): void {
    keepDraft(writer, sessionId, text)
    takeFiles(files)
    replacements.value += 1
  }
  /** What is still on its way stays there. */
  function takeFiles(files: readonly Arrived[]): void {
    const known = tray.list.value
    const arrived = files.map((file) => known.find(({ path: one }) => one === file.path) ?? arrivedUpload(file))
    tray.list.value = [...arrived, ...known.filter(({ path: one }) => one === null)]
  }
  function setOther(next: Written | null): void {
    other.value = next
    keepOther(writer, sessionId, next)
  }
  /** Beside another one that is still there it loses nothing. */
  function setAside(written: Written): void {
    const before = other.value
    if (before === null || before.text === written.text)
      return setOther({ text: written.text, files: union(before?.files ?? [], written.files) })
    const text = [before.text, written.text].filter(Boolean).join('\n\n')
    setOther({ text, files: union(before.files, written.files) })
  }

  function take({ text, files, version, updated_at: at }: Draft): void {
    const { version: known, changedAt, unanswered } = recallState(writer, sessionId)
    if (version === known && version > 0) return
    const mine = present()
    const theirs = { text, files: files.map((one) => ({ name: baseName(one), path: one })) }
    if (isSame(mine, theirs)) return keepState(writer, sessionId, { version, changedAt: null })
    // Saved from here, and the answer was lost: what stands here since then is newer, also where it was sent.
    if (changedAt !== null && unanswered && isSame(unanswered, theirs))
      return keepState(writer, sessionId, { version, changedAt })
    if (changedAt === null || isEmpty(mine)) {
      show(theirs)
      return keepState(writer, sessionId, { version, changedAt: null })
    }
    if (mine.text === text) {
      takeFiles(union(mine.files, theirs.files))
    } else if (!isEmpty(theirs)) {
      const isNewer = Date.parse(at ?? '') > changedAt
      setAside(isNewer ? mine : theirs)
      if (isNewer) {
        show(theirs)
        return keepState(writer, sessionId, { version, changedAt: null })
      }
    }
    keepState(writer, sessionId, { version, changedAt })
  }

  async function save(): Promise<void> {
    const written = present()
    const state = recallState(writer, sessionId)
    const { version } = state
    if (!isEmpty(written)) keepState(writer, sessionId, { ...state, unanswered: written })
    const keepalive = written.text.length < KEPT_ALIVE
    const saved = isEmpty(written)
      ? await call<Draft>('DELETE', path, { query: { version }, keepalive })
      : await call<Draft>('PUT', path, { body: { text: written.text, files: paths(written), version }, keepalive })
    const { changedAt } = recallState(writer, sessionId)
    const isStill = isSame(written, present())
    keepState(writer, sessionId, { version: saved.version, changedAt: isStill ? null : changedAt })
    editedFrom = 0
    if (!isStill && !isOver) later(PAUSE_MS)
  }

  /** One call after the other: each is based on what the one before has told. */
  async function sync(reads: boolean): Promise<void> {
    isToRead ||= reads
    isWanted = true
    if (isSyncing || isOff || !isWriter()) return
    isSyncing = true
    clearTimeout(timer)
    try {
      for (let round = 0; isWanted && isWriter() && round < MOST_ROUNDS; round += 1) await step()
      if (isWanted && isWriter()) later(PAUSE_MS)
    } catch (error) {
      if (isForLater(error) || (error instanceof ApiError && error.status === 429)) later(LATER_MS * MOST_ROUNDS)
      else if (error instanceof ApiError) isOff = error.status === 404
      else throw error
    } finally {
      isSyncing = false
    }
  }
  async function step(): Promise<void> {
    isWanted = false
    if (isToRead) {
      take(await call<Draft>('GET', path))
      isToRead = false
    }
    if (!isAhead()) return
    try {
      await save()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error
      isToRead = isWanted = true
    }
  }
  function later(delay: number): void {
    clearTimeout(timer)
    if (!isOver) timer = window.setTimeout(() => void sync(false), delay)
  }

  watch(edits, () => {
    if (!isAhead()) return
    // Sent, or taken back.
    if (isEmpty(present())) return void sync(false)
    editedFrom ||= Date.now()
    later(Math.max(0, Math.min(PAUSE_MS, editedFrom + LONGEST_MS - Date.now())))
  })
  watch(visibility, (now) => (now === 'visible' || isAhead() ? void sync(now === 'visible') : undefined))
  useEventListener(window, 'online', () => void sync(true))
  // Tabs of one browser have one draft: what is written in one stands in the others.
  useEventListener(window, 'storage', ({ key }) => {
    if (key === null || !draftKeys(writer, sessionId).includes(key)) return
    other.value = recallOther(writer, sessionId)
    takeFiles(recallArrived(writer, sessionId))
    replacements.value += 1
  })
  onScopeDispose(() => {
    if (isAhead()) void sync(false)
    isOver = true
    clearTimeout(timer)
  })
  isOff = !keepsDrafts(writer, sessionId)
  void sync(true)

  return {
    other,
    useOther: () => {
      const wanted = other.value
      if (wanted === null) return
      const mine = present()
      setOther(isEmpty(mine) ? null : mine)
      show(wanted)
    },
    dropOther: () => setOther(null),
    lookAgain: () => {
      if (!isEmpty(present())) void sync(true)
    },
  }
}
