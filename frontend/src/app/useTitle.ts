import { computed, type ComputedRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { useConversation } from '@/features/chat'
import { useSessions } from '@/features/sessions'

/** The title of the open conversation. While it opens, whether it has one is not known yet. */
export function useTitle(sessionId: () => string | null): {
  title: ComputedRef<string>
  isOpening: ComputedRef<boolean>
} {
  const { t } = useI18n()
  const sessions = useSessions()
  const conversation = useConversation()
  const isOpening = computed(() => sessionId() !== null && conversation.phase === 'loading')
  const title = computed(() => {
    const id = sessionId()
    if (!id || !conversation.isHere) return ''
    const known = sessions.byId.get(id)?.title || conversation.transcript.title
    return known || (isOpening.value ? '' : t('sessions.untitled'))
  })
  return { title, isOpening }
}
