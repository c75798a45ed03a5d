import { computed, watch, type ComputedRef } from 'vue'
import type { FolderInfo } from '@/api/types'
import { useFolders } from '@/features/sessions'

/** The folder in which the conversation that is about to begin will stand; null for none, or one that is gone. */
export function useFirstFolder(id: () => string | null): ComputedRef<FolderInfo | null> {
  const folders = useFolders()
  watch(id, (wanted) => void (wanted !== null && !folders.isOffered && folders.load()), { immediate: true })
  return computed(() => folders.list.find((one) => one.id === id()) ?? null)
}
