import { useDocumentVisibility, watchDebounced } from '@vueuse/core'
import { useSessions } from '@/features/sessions'
import { useConversation } from './conversation'
import { endSeq } from './transcript'

/** What stands on a visible page is read: told to the server, so that other tabs and devices know. */
export function useReadMarker(sessionId: () => string | null): void {
  const sessions = useSessions()
  const conversation = useConversation()
  const visibility = useDocumentVisibility()
  watchDebounced(
    () => {
      const id = sessionId()
      const isSeen = visibility.value === 'visible' && conversation.phase === 'ready' && conversation.sessionId === id
      const known = sessions.byId.get(id ?? '')
      if (!id || !isSeen || !known) return null
      // Also a run that was stopped here, which counts as no unread answer.
      const end = conversation.transcript.items.findLast(({ kind }) => kind === 'end')
      const isBehind = known.unread > 0 || (end?.kind === 'end' && endSeq(end) > known.read_seq)
      return isBehind ? { id, seq: conversation.transcript.lastSeq } : null
    },
    (seen) => {
      // Not told is told again with the next event.
      if (seen) void sessions.markRead(seen.id, seen.seq).catch(() => undefined)
    },
    { immediate: true, debounce: 300, maxWait: 2000 },
  )
}
