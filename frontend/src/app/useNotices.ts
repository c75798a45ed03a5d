import { useDocumentVisibility } from '@vueuse/core'
import { onScopeDispose, watch } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import { useSessions } from '@/features/sessions'
import { showNotification, useUserSettings } from '@/features/settings'
import { playChime } from '@/shared/lib/chime'
import { noticesOf, statusesOf, type Notice, type Statuses } from './notices'

/** Held by each page of the product that is seen; the browser lets go of it with the page. */
const SEEN = 'deskmate-seen'
/** Held for a moment by the one page that plays the sound. */
const SOUND = 'deskmate-sound'
const SOUND_MS = 2000

async function isSeenElsewhere(): Promise<boolean> {
  const { held = [] } = await navigator.locks.query()
  return held.some(({ name }) => name === SEEN)
}

/** Of several pages that tell of the same conversation one plays the sound. */
function soundOnce(): void {
  void navigator.locks.request(SOUND, { ifAvailable: true }, async (lock) => {
    if (!lock) return
    playChime()
    await new Promise((resolve) => setTimeout(resolve, SOUND_MS))
  })
}

/** The browser tells what asks for the person while no page of the product is seen, as far as they chose so. */
export function useNotices(): void {
  const { t } = useI18n()
  const router = useRouter()
  const sessions = useSessions()
  const settings = useUserSettings()
  const visibility = useDocumentVisibility()
  const shown = new Map<string, Notification>()
  let known: Statuses = new Map()
  let release = (): void => undefined
  const isWanted = ({ kind }: Notice): boolean => settings.isOn(`notifications/${kind}`)

  async function tell(notices: readonly Notice[]): Promise<void> {
    if (!notices.some(isWanted)) return
    // Switched off in another browser it is switched off here.
    await settings.load().catch(() => undefined)
    const wanted = notices.filter(isWanted)
    if (wanted.length === 0 || (await isSeenElsewhere()) || visibility.value === 'visible') return
    wanted.forEach(show)
    if (settings.isOn('notifications/sound')) soundOnce()
  }
  function show({ session, kind }: Notice): void {
    const body = t(`settings.notifications.said.${kind}`)
    // Of several pages that tell of the same conversation the browser shows one, and the newest.
    const notification = showNotification(session.title || t('sessions.untitled'), { body, tag: session.id })
    if (!notification) return
    notification.onclick = () => {
      window.focus()
      notification.close()
      void router.push(`/s/${session.id}`)
    }
    shown.set(session.id, notification)
  }
  function forget(): void {
    for (const notification of shown.values()) notification.close()
    shown.clear()
  }

  watch(
    () => sessions.list,
    (list) => {
      const notices = noticesOf(known, list)
      known = statusesOf(list)
      if (visibility.value === 'hidden') void tell(notices)
    },
    { immediate: true },
  )
  watch(
    visibility,
    (now) => {
      release()
      if (now !== 'visible') return
      forget()
      const gone = new Promise<void>((resolve) => (release = resolve))
      // Without TLS there are no locks, and no notifications either.
      void navigator.locks?.request(SEEN, { mode: 'shared' }, () => gone)
    },
    { immediate: true },
  )
  onScopeDispose(() => {
    release()
    forget()
  })
}
