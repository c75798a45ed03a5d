import type { Session } from '@/api/types'

export interface Attention {
  /** Conversations that ask for the person: unread answers, or waiting for a word. */
  readonly count: number
  /** Other conversations in which the agent is at work. */
  readonly running: number
}

/** What goes on in the conversations that are not on screen. */
export function attention(sessions: readonly Session[], shown: string | null): Attention {
  const others = sessions.filter((session) => session.id !== shown && !session.archived)
  return {
    count: others.filter((session) => session.unread > 0 || session.status === 'waiting').length,
    running: others.filter((session) => session.status === 'running' || session.status === 'queued').length,
  }
}

/** The browser tab: what asks for the person first, then what this page shows. */
export function tabTitle(count: number, parts: readonly string[]): string {
  return `${count > 0 ? `(${count}) ` : ''}${parts.filter(Boolean).join(' · ')}`
}
