import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { DeletedFolder, FolderInfo, FolderList, Session } from '@/api/types'
import { useSessions } from './store'

/** The person's folders, by their names. A server without them has none. */
export const useFolders = defineStore('folders', () => {
  const list = shallowRef<readonly FolderInfo[]>([])
  const isOffered = ref(false)
  /** The folder that is edited; null: a new one; undefined: none. */
  const edited = shallowRef<FolderInfo | null>()
  /** What is put into the new one. */
  const wanted = ref<string | null>(null)

  async function load(): Promise<void> {
    try {
      list.value = (await call<FolderList>('GET', '/folders')).items
      isOffered.value = true
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) isOffered.value = false
    }
  }
  async function save(id: string | null, fields: { name: string; instructions: string }): Promise<FolderInfo> {
    const path = id === null ? '/folders' : `/folders/${encodeURIComponent(id)}`
    const saved = await call<FolderInfo>(id === null ? 'POST' : 'PATCH', path, { body: fields })
    await load()
    return saved
  }
  /** How many conversations were in it; they are in none then. */
  async function remove(id: string): Promise<number> {
    const { moved_out: count } = await call<DeletedFolder>('DELETE', `/folders/${encodeURIComponent(id)}`)
    await load()
    return count
  }
  async function move(sessionId: string, folderId: string | null): Promise<void> {
    const url = `/sessions/${encodeURIComponent(sessionId)}/folder`
    useSessions().keep(await call<Session>('PUT', url, { body: { folder_id: folderId } }))
  }
  /**
   * Puts a conversation that has just begun into a folder. Where that is gone, it stands outside; where it can't be done now,
   * the conversation goes again, so that it can begin once more.
   */
  async function begin(sessionId: string, folderId: string): Promise<void> {
    try {
      await move(sessionId, folderId)
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return await load()
      // Where it can't be removed either, it stays empty; the person is told why it did not begin.
      await useSessions()
        .remove(sessionId)
        .catch(() => undefined)
      throw error
    }
  }
  return { list, isOffered, edited, wanted, load, save, remove, move, begin }
})
