import { ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { FolderFile, FolderFileList } from '@/api/types'
import { uploadTo } from '@/api/upload'

/** The files of a folder. `busy` names the one that is being added or deleted; `problem` is of the file `about`. */
export function useFolderFiles(folderId: string) {
  const items = shallowRef<readonly FolderFile[] | null>(null)
  const busy = ref('')
  const about = ref('')
  const problem = shallowRef<unknown>(null)
  const path = `/folders/${encodeURIComponent(folderId)}/files`

  async function load(): Promise<void> {
    items.value = (await call<FolderFileList>('GET', path)).items
  }
  async function work(name: string, act: () => Promise<unknown>): Promise<boolean> {
    busy.value = about.value = name
    problem.value = null
    try {
      await act()
      return true
    } catch (error) {
      problem.value = error
      return false
    } finally {
      await load().catch((error: unknown) => (problem.value ??= error))
      busy.value = ''
    }
  }
  /** One after the other, up to the one that is refused. */
  async function add(files: readonly File[]): Promise<void> {
    if (busy.value) return
    for (const file of files) if (!(await work(file.name, () => uploadTo<FolderFileList>(path, [file])))) return
  }
  async function remove(file: FolderFile): Promise<void> {
    if (busy.value) return
    await work(file.name, async () => {
      try {
        await call('DELETE', `${path}/${encodeURIComponent(file.id)}`)
      } catch (error) {
        // Somebody was first.
        if (!(error instanceof ApiError) || error.status !== 404) throw error
      }
    })
  }
  load().catch((error: unknown) => (problem.value = error))
  return { items, busy, about, problem, add, remove }
}
