import { computed, watch } from 'vue'
import { useRoute } from 'vue-router'
import { useFolders } from '@/features/sessions'

/** The folder in which the conversation that is about to begin will stand, as the address names it. */
export function useFirstFolder(sessionId: () => string | null) {
  const folders = useFolders()
  const route = useRoute()
  const id = computed(() => {
    const { folder } = route.query
    return sessionId() === null && typeof folder === 'string' && folder !== '' ? folder : null
  })
  watch(id, (wanted) => void (wanted !== null && !folders.isOffered && folders.load()), { immediate: true })
  /** Null for none, or one that is gone. */
  const folder = computed(() => folders.list.find((one) => one.id === id.value) ?? null)
  return { folder, named: () => id.value }
}
