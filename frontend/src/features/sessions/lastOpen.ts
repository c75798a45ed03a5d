import { markedUser } from '@/api/tokens'
import { recallInTab, rememberInTab } from '@/shared/lib/storage'

const nameOf = (): string => `open:${markedUser() ?? ''}`

/** Called with each page that is opened in this tab: which conversation it is, or that a new one was to begin. */
export function keepOpen(path: string): void {
  if (path === '/') rememberInTab(nameOf(), null)
  else if (path.startsWith('/s/')) rememberInTab(nameOf(), path)
}

/** The way back to the conversations: to the one that was open last in this tab, or to a new one. */
export const lastOpen = (): string => recallInTab(nameOf()) ?? '/'
