import { useTitle } from '@vueuse/core'
import { computed, watch } from 'vue'
import { useI18n } from 'vue-i18n'
import { useConversation } from '@/features/chat'

/** The run in words for the top bar, and in the tab's title and icon. */
export function useRunState(title: () => string) {
  const { t } = useI18n()
  const conversation = useConversation()
  const state = computed(() => {
    const { kind } = conversation.activity
    if (kind !== 'idle') return t(`state.${kind}`)
    const status = conversation.transcript.run?.status
    return status && status !== 'running' && status !== 'queued' ? t(`state.${status}`) : ''
  })
  const tone = computed(() => {
    if (conversation.isRunning) return 'bg-working pulse'
    const status = conversation.transcript.run?.status
    return status === 'completed' ? 'bg-good' : status === 'failed' || status === 'interrupted' ? 'bg-bad' : 'bg-ink-3'
  })
  useTitle(() =>
    [conversation.isRunning || conversation.transcript.run ? state.value : '', title(), t('app.name')]
      .filter(Boolean)
      .join(' · '),
  )
  watch(
    () => conversation.isRunning,
    (isRunning) => {
      const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
      if (icon) icon.href = isRunning ? '/icon-working.svg' : '/icon.svg'
    },
    { immediate: true },
  )
  return { state, tone }
}
