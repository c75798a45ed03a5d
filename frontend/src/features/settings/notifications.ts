import { ref } from 'vue'

/** `missing`: the browser has none for pages, as on many phones; `insecure`: none for pages that come without TLS. */
export type NotificationState = NotificationPermission | 'missing' | 'insecure'

/** Found out by showing one: there is no other way to know of a browser that has the interface and refuses it to pages. */
let isIllegal = false

function present(): NotificationState {
  if (!window.isSecureContext) return 'insecure'
  return isIllegal || !('Notification' in window) ? 'missing' : Notification.permission
}

/** Whether this browser shows notifications of this page. */
export const notificationState = ref<NotificationState>(present())

/** It may have changed in the browser's own settings. */
export function lookAtNotifications(): void {
  notificationState.value = present()
}

/** Where the browser was not asked yet it asks the person, so this is called by a click alone. Shows `sample`. */
export async function allowNotifications(sample: string): Promise<boolean> {
  lookAtNotifications()
  if (notificationState.value === 'default') {
    await Notification.requestPermission()
    lookAtNotifications()
  }
  return notificationState.value === 'granted' && showNotification(sample, {}) !== null
}

/** Null where the browser does not show it. */
export function showNotification(title: string, options: NotificationOptions): Notification | null {
  lookAtNotifications()
  if (notificationState.value !== 'granted') return null
  try {
    return new Notification(title, { icon: '/icon.svg', ...options })
  } catch {
    isIllegal = true
    lookAtNotifications()
    return null
  }
}
