import type { Transcript } from './transcript'

/** A note of ours: the person gave the computer back with words for the agent. */
export const HANDED_BACK = 'control.returned'

/** What the agent is told with the computer that is free again is seen too. */
export function withHandBackNote(state: Transcript, key: string, words: string | null): Transcript {
  if (!words) return state
  const note = { kind: 'note', key, tone: 'notice', text: words, code: HANDED_BACK, params: {} } as const
  return { ...state, items: [...state.items, note] }
}
