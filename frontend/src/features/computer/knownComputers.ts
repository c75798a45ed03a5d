import { recallJson, remember } from '@/shared/lib/storage'

const KEY = 'computers'
const KEPT = 200
const isIdList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((id) => typeof id === 'string')

/** Whether this conversation had a computer when it was last open in this browser: what its page is laid out by until it is there. */
export function hadComputer(sessionId: string): boolean {
  return recallJson(KEY, isIdList, []).includes(sessionId)
}

/** The last ones are known, which are those that are opened again. */
export function knowComputer(sessionId: string, has: boolean): void {
  const others = recallJson(KEY, isIdList, []).filter((id) => id !== sessionId)
  remember(KEY, JSON.stringify((has ? [sessionId, ...others] : others).slice(0, KEPT)))
}
