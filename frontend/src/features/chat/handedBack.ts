import type { Transcript } from './transcript'

/** A note of ours: the person gave the computer back with words for the agent. */
export const HANDED_BACK = 'control.returned'

/** The computer is free again; what the agent is told of it is seen too. */
export function handedBack(state: Transcript, key: string, words: string | null): Transcript {
  const free: Transcript = { ...state, computer: { ...state.computer, driver: null } }
  if (!words) return free
  const note = { kind: 'note', key, tone: 'notice', text: words, code: HANDED_BACK, params: {} } as const
  return { ...free, items: [...free.items, note] }
}
