import { computed } from 'vue'
import { uploadFiles } from '@/api/upload'
import { refuseTooLarge } from '@/api/uploadLimit'
import { matchAttached } from '@/features/research'
import { baseName } from '@/shared/lib/format'
import { createId } from '@/shared/lib/ids'
import type { Upload, UploadTray } from './drafts'

const turns = new WeakMap<UploadTray, Promise<unknown>>()

/** One after the other: of two files with the same name, the one that was brought first gets it. */
function inTurn(where: UploadTray, send: () => Promise<void>): Promise<void> {
  const turn = (turns.get(where) ?? Promise.resolve()).then(send)
  turns.set(
    where,
    turn.catch(() => null),
  )
  return turn
}

/**
 * Files on their way into the workspace of the tray's conversation, to be named by its next message. Whoever looks at
 * another one meanwhile sees the tray of that one. `begin` begins the conversation of a tray that has none yet.
 */
export function useUploads(tray: () => UploadTray, begin: () => Promise<string>) {
  const aborts = new Map<string, AbortController>()

  function change(where: UploadTray, id: string, fields: Partial<Upload>): void {
    where.list.value = where.list.value.map((upload) => (upload.id === id ? { ...upload, ...fields } : upload))
  }

  /** One that was cut off by a reload has no `file` but the one that is chosen again. */
  async function start(upload: Upload, where = tray(), file = upload.file): Promise<void> {
    if (!file) return
    change(where, upload.id, { problem: null, progress: 0, file, name: file.name })
    try {
      refuseTooLarge(file)
      await inTurn(where, () => send(upload, file, where))
    } catch (error) {
      change(where, upload.id, { problem: error })
    }
  }

  async function send(upload: Upload, file: File, where: UploadTray): Promise<void> {
    // It may have been removed while it waited.
    if (where.list.value.every(({ id }) => id !== upload.id)) return
    const abort = new AbortController()
    aborts.set(upload.id, abort)
    try {
      const sessionId = where.sessionId ?? (await begin())
      const paths = await uploadFiles(sessionId, [file], {
        signal: abort.signal,
        onProgress: (progress) => change(where, upload.id, { progress }),
      })
      const path = paths[0] ?? upload.name
      // Another file may have had its name: it is called as everything else calls it.
      change(where, upload.id, { path, name: baseName(path), progress: 1 })
      matchAttached(sessionId, path, file)
    } catch (error) {
      if (!abort.signal.aborted) throw error
    }
  }

  async function add(files: Iterable<File>): Promise<void> {
    const where = tray()
    const fresh = [...files].map((file): Upload => ({
      id: createId(),
      name: file.name,
      progress: 0,
      path: null,
      problem: null,
      file,
    }))
    where.list.value = [...where.list.value, ...fresh]
    await Promise.all(fresh.map((upload) => start(upload, where)))
  }

  function remove(id: string): void {
    aborts.get(id)?.abort()
    const where = tray()
    where.list.value = where.list.value.filter((upload) => upload.id !== id)
  }
  const list = computed(() => tray().list.value)
  const isBusy = computed(() => list.value.some((upload) => upload.path === null && upload.problem === null))
  const hasFailed = computed(() => list.value.some((upload) => upload.problem !== null))

  /** The paths of what has arrived. What was refused stays on show until it is tried again or removed. */
  function takeAll(): string[] {
    const paths = list.value.flatMap((upload) => (upload.path ? [upload.path] : []))
    tray().list.value = list.value.filter(({ path }) => path === null)
    return paths
  }
  return { list, isBusy, hasFailed, add, remove, start, takeAll }
}
