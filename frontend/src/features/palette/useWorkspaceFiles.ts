import { shallowRef } from 'vue'
import { call } from '@/api/client'
import type { FileEntry } from '@/api/types'

const MOST_FOLDERS = 40
const MOST_FILES = 1_000
const SKIPPED = new Set(['node_modules', '.git', '.venv', '__pycache__', '.cache'])

/** Names of the files of a workspace, as far as they are soon read. A computer that is not on is not started for it. */
export function useWorkspaceFiles() {
  const paths = shallowRef<readonly string[]>([])
  let asked = 0

  async function read(sessionId: string | null, isReady: boolean): Promise<void> {
    const mine = (asked += 1)
    paths.value = []
    if (!sessionId || !isReady) return
    const found: string[] = []
    const folders = ['']
    for (let count = 0; folders.length > 0 && count < MOST_FOLDERS && found.length < MOST_FILES; count += 1) {
      const path = folders.shift() ?? ''
      const url = `/sessions/${encodeURIComponent(sessionId)}/files`
      const entries = await call<FileEntry[]>('GET', url, { query: { path } }).catch(() => [])
      if (mine !== asked) return
      for (const entry of entries) {
        if (!entry.is_dir) found.push(entry.path)
        else if (!SKIPPED.has(entry.name)) folders.push(entry.path)
      }
      paths.value = [...found]
    }
  }
  return { paths, read }
}
