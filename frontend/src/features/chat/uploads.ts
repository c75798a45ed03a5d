import { computed, ref } from 'vue'
import { uploadFiles } from '@/api/upload'
import { createId } from '@/shared/lib/ids'

export interface Upload {
  readonly id: string
  readonly name: string
  readonly progress: number
  readonly path: string | null
  readonly problem: unknown
  readonly file: File
}

/** Files on their way into the workspace, to be named by the next message. */
export function useUploads(session: () => Promise<string>) {
  const list = ref<Upload[]>([])
  const aborts = new Map<string, AbortController>()

  function change(id: string, fields: Partial<Upload>): void {
    list.value = list.value.map((upload) => (upload.id === id ? { ...upload, ...fields } : upload))
  }

  async function start(upload: Upload): Promise<void> {
    const abort = new AbortController()
    aborts.set(upload.id, abort)
    change(upload.id, { problem: null, progress: 0 })
    try {
      const paths = await uploadFiles(await session(), [upload.file], {
        signal: abort.signal,
        onProgress: (progress) => change(upload.id, { progress }),
      })
      change(upload.id, { path: paths[0] ?? upload.name, progress: 1 })
    } catch (error) {
      if (!abort.signal.aborted) change(upload.id, { problem: error })
    }
  }

  async function add(files: Iterable<File>): Promise<void> {
    const fresh = [...files].map((file): Upload => ({
      id: createId(),
      name: file.name,
      progress: 0,
      path: null,
      problem: null,
      file,
    }))
    list.value = [...list.value, ...fresh]
    for (const upload of fresh) await start(upload)
  }

  function remove(id: string): void {
    aborts.get(id)?.abort()
    list.value = list.value.filter((upload) => upload.id !== id)
  }
  const isBusy = computed(() => list.value.some((upload) => upload.path === null && upload.problem === null))

  /** The paths of what has arrived. Only what was not taken stays, to be tried again or removed. */
  function takeAll(): string[] {
    const paths = list.value.flatMap((upload) => (upload.path ? [upload.path] : []))
    list.value = list.value.filter((upload) => upload.path === null)
    return paths
  }
  return { list, isBusy, add, remove, start, takeAll }
}
