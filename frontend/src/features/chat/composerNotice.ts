import type { Ref } from 'vue'

/** What came of what was brought into the message, and is no trouble of what is written. */
export type Notice = 'filesHeld' | 'tooMuch' | 'pasted' | 'noFiles'

/** The one to be said: the first that is. */
export function noticeOf(those: Readonly<Record<Notice, Readonly<Ref<boolean>>>>): Notice | null {
  return (Object.keys(those) as Notice[]).find((one) => those[one].value) ?? null
}
