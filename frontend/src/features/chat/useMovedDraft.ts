import { ref, watch, type Ref } from 'vue'
import { useAuth } from '@/features/auth'
import { moveDraft } from './drafts'

/** Whether the draft of the conversation that is `gone` was kept for the next one. */
export function useMovedDraft(gone: () => string | null): Readonly<Ref<boolean>> {
  const auth = useAuth()
  const hasMoved = ref(false)
  watch(gone, (id) => (hasMoved.value = id !== null && moveDraft(auth.user?.id ?? null, id)), { immediate: true })
  return hasMoved
}
