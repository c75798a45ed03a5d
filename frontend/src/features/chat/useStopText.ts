import { useOnline } from '@vueuse/core'
import { computed } from 'vue'
import { useI18n } from 'vue-i18n'
import { useConversation } from './conversation'

/** What became of a stop that was asked for; empty where none is on its way. */
export function useStopText() {
  const { t } = useI18n()
  const conversation = useConversation()
  const isOnline = useOnline()
  return computed(() => {
    if (!conversation.isStopping) return ''
    if (!conversation.isStopHeld) return t('activity.stopping')
    return t(isOnline.value ? 'activity.stopsOnceThere' : 'activity.stopsOnceOnline')
  })
}
