import { useTitle } from '@vueuse/core'
import { computed, watch } from 'vue'
import { useI18n } from 'vue-i18n'
import { useConversation } from '@/features/chat'
import { useSessions } from '@/features/sessions'
import { attention, tabTitle } from './tabTitle'
import { useNotices } from './useNotices'

/** The run in words for the top bar, and in the tab's title and icon; the browser tells of runs while no tab is seen. */
export function useRunState(title: () => string) {
  useNotices()
  const { t } = useI18n()
  const conversation = useConversation()
  const sessions = useSessions()
  const isUnknown = computed(() => conversation.isCutOff && conversation.isRunning)
  const state = computed(() => {
    if (!conversation.isHere) return ''
    if (isUnknown.value) return t('state.reconnecting')
    if (conversation.phase === 'loading' && conversation.isRunning) return t('state.working')
    const { kind } = conversation.activity
    if (kind !== 'idle') return t(`state.${kind}`)
    const status = conversation.transcript.run?.status
    if (!status || status === 'running' || status === 'queued') return ''
    const count = conversation.transcript.background.filter((one) => one.state === 'running').length
    // What was answered is done, and there is more to come.
    if (status === 'completed' && count > 0) return `${t('state.completed')} · ${t('state.background', { count })}`
    return t(`state.${status}`)
  })
  const tone = computed(() => {
    if (isUnknown.value) return 'bg-careful pulse'
    if (conversation.isRunning) return 'bg-working pulse'
    const status = conversation.transcript.run?.status
    if (status === 'waiting') return 'bg-careful'
    return status === 'completed' ? 'bg-good' : status === 'failed' || status === 'interrupted' ? 'bg-bad' : 'bg-ink-3'
  })
  /** What a page knows that was hidden for a while is what the list of all conversations says. */
  const isResting = computed(() => conversation.streamState === 'resting')
  const isRunning = computed(() => !isResting.value && conversation.isRunning)
  const elsewhere = computed(() => attention(sessions.list, isResting.value ? null : conversation.sessionId))
  useTitle(() => {
    const { count, running } = elsewhere.value
    const own = isRunning.value || (!isResting.value && conversation.transcript.run) ? state.value : ''
    const others = running > 0 ? t('state.others', { count: running }) : ''
    return tabTitle(count, [own || others, title(), t('app.name')])
  })
  watch(
    () => (isRunning.value || elsewhere.value.running > 0) && !conversation.isCutOff && !sessions.feedTrouble,
    (works) => {
      const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
      if (icon) icon.href = works ? '/icon-working.svg' : '/icon.svg'
    },
    { immediate: true },
  )
  return { state, tone, isUnknown }
}
