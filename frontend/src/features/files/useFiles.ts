import { computed, ref, shallowRef, watch } from 'vue'
import { call, callRaw } from '@/api/client'
import { ApiError, isTooLarge } from '@/api/problems'
import type { FileEntry, FileLink } from '@/api/types'
import { saved } from '@/shared/lib/shownContent'
import { uploadFiles } from '@/api/upload'
import { refuseTooLarge } from '@/api/uploadLimit'

export interface TreeRow {
  readonly entry: FileEntry
  readonly depth: number
  readonly isOpen: boolean
}

export interface NotUploaded {
  readonly file: File
  readonly subdir: string
  readonly error: unknown
}

/** The workspace as a tree whose folders are read when opened, and again when something changed. */
export function useFiles(sessionId: () => string, version: () => number, isReady: () => boolean) {
  const folders = shallowRef(new Map<string, FileEntry[]>())
  const opened = ref(new Set<string>())
  const problem = shallowRef<unknown>(null)
  const hasComputer = ref(true)
  const isLoaded = ref(false)
  const progress = ref<number | null>(null)
  const notUploaded = shallowRef<readonly NotUploaded[]>([])

  /** Which reading of a folder the shown entries are of; a change asks anew, so what was asked later knows more. */
  const shown = new Map<string, number>()
  let asked = 0

  async function read(path: string): Promise<void> {
    const id = sessionId()
    const mine = (asked += 1)
    const entries = await call<FileEntry[]>('GET', `/sessions/${id}/files`, { query: { path } })
    if (id !== sessionId() || mine < (shown.get(path) ?? 0)) return
    shown.set(path, mine)
    entries.sort((a, b) => Number(b.is_dir) - Number(a.is_dir) || a.name.localeCompare(b.name))
    folders.value = new Map(folders.value).set(path, entries)
  }

  async function refresh(): Promise<void> {
    try {
      await read('')
      await Promise.all(
        [...opened.value].map((path) =>
          read(path).catch(() => {
            opened.value.delete(path)
          }),
        ),
      )
      problem.value = null
      hasComputer.value = true
      isLoaded.value = true
    } catch (error) {
      hasComputer.value = !(error instanceof ApiError && error.status === 404)
      problem.value = error
    }
  }

  async function toggle(path: string): Promise<void> {
    if (opened.value.delete(path)) return
    opened.value.add(path)
    try {
      await read(path)
    } catch (error) {
      opened.value.delete(path)
      problem.value = error
    }
  }

  const rows = computed<TreeRow[]>(() => {
    const listed: TreeRow[] = []
    const walk = (path: string, depth: number): void => {
      for (const entry of folders.value.get(path) ?? []) {
        const isOpen = entry.is_dir && opened.value.has(entry.path)
        listed.push({ entry, depth, isOpen })
        if (isOpen) walk(entry.path, depth + 1)
      }
    }
    walk('', 0)
    return listed
  })

  type Wanted = readonly Pick<NotUploaded, 'file' | 'subdir'>[]
  let turn = Promise.resolve()

  /** What was brought before goes first: of two files with the same name it gets that. */
  function uploadAll(wanted: Wanted): Promise<void> {
    const id = sessionId()
    progress.value ??= 0
    turn = turn.then(() => uploadEach(id, wanted))
    return turn
  }

  /** One request a file: one that is refused takes no other with it. */
  async function uploadEach(id: string, wanted: Wanted): Promise<void> {
    const total = wanted.reduce((sum, { file }) => sum + file.size, 0)
    let done = 0
    let arrived = 0
    progress.value = 0
    for (const { file, subdir } of wanted) {
      const onProgress = (share: number): void => {
        progress.value = total > 0 ? (done + share * file.size) / total : 0
      }
      try {
        refuseTooLarge(file)
        await uploadFiles(id, [file], { subdir: subdir || undefined, onProgress })
        arrived += 1
      } catch (error) {
        if (id === sessionId()) notUploaded.value = [...notUploaded.value, { file, subdir, error }]
      }
      done += file.size
    }
    progress.value = null
    if (arrived > 0 && id === sessionId()) await refresh()
  }
  async function upload(files: readonly File[], subdir: string): Promise<void> {
    notUploaded.value = []
    await uploadAll(files.map((file) => ({ file, subdir })))
  }

  /** Files that lie in folders, each into its own. */
  async function uploadFolders(folders: ReadonlyMap<string, readonly File[]>): Promise<void> {
    notUploaded.value = []
    await uploadAll([...folders].flatMap(([subdir, files]) => files.map((file) => ({ file, subdir }))))
  }

  async function download(entry: { path: string; name: string; is_dir: boolean }): Promise<void> {
    const anchor = document.createElement('a')
    try {
      if (entry.is_dir) {
        const response = await callRaw('GET', `/sessions/${sessionId()}/files/download`, {
          query: { path: entry.path },
        })
        anchor.href = URL.createObjectURL(saved(await response.blob()))
        anchor.download = `${entry.name}.zip`
      } else {
        const link = await call<FileLink>('POST', `/sessions/${sessionId()}/files/link`, { body: { path: entry.path } })
        // Where links have an origin of their own it would be shown there, in place of this page.
        anchor.href = `${link.url}?download=true`
        anchor.download = entry.name
      }
      anchor.click()
      if (entry.is_dir) setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000)
    } catch (error) {
      problem.value = error
    }
  }

  watch(
    [sessionId, version, isReady],
    ([id, , ready], [before]) => {
      if (before !== undefined && id !== before) {
        folders.value = new Map()
        opened.value = new Set()
        isLoaded.value = false
        notUploaded.value = []
      }
      // Reading files would start the computer: only a person or the agent does.
      if (ready) void refresh()
    },
    { immediate: true },
  )
  async function uploadAgain(): Promise<void> {
    const again = notUploaded.value.filter((one) => !isTooLarge(one.error))
    notUploaded.value = notUploaded.value.filter((one) => isTooLarge(one.error))
    await uploadAll(again)
  }
  return {
    rows,
    problem,
    hasComputer,
    isLoaded,
    progress,
    notUploaded,
    refresh,
    toggle,
    upload,
    uploadAgain,
    uploadFolders,
    download,
  }
}
