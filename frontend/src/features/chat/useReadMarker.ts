import { useDocumentVisibility, watchDebounced } from '@vueuse/core'
import { useSessions } from '@/features/sessions'
import { useConversation } from './conversation'

/** What stands on a visible page is read: told to the server, so that other tabs and devices know. */
export function useReadMarker(sessionId: () => string | null): void {
  const sessions = useSessions()
  const conversation = useConversation()
  const visibility = useDocumentVisibility()
  watchDebounced(
    () => {
      const id = sessionId()
      const isSeen = visibility.value === 'visible' && conversation.phase === 'ready' && conversation.sessionId === id
      if (!id || !isSeen || !sessions.byId.get(id)?.unread) return null
      return { id, seq: conversation.transcript.lastSeq }
    },
    (seen) => {
      // Not told is told again with the next event.
      if (seen) void sessions.markRead(seen.id, seen.seq).catch(() => undefined)
    },
    { immediate: true, debounce: 300, maxWait: 2000 },
  )
}
