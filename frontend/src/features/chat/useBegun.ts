import { reactive, watch } from 'vue'
import { BEGUN_ANSWER, recallJson, remember } from '@/shared/lib/storage'

/** What a person began to answer: what is chosen, and what is written, by the names of the fields. */
export interface Begun {
  chosen: Record<string, string>
  written: Record<string, string>
}

/** Kept in this browser, also over a reload, until it is decided. */
export function useBegun(key: string, isOpen: () => boolean): Begun {
  const begun = reactive(recallJson<Begun>(`${BEGUN_ANSWER}${key}`, isBegun, { chosen: {}, written: {} }))
  watch(
    () => (isOpen() && hasAny(begun) ? JSON.stringify(begun) : null),
    (text) => remember(`${BEGUN_ANSWER}${key}`, text),
    { immediate: true },
  )
  return begun
}

function hasAny({ chosen, written }: Begun): boolean {
  return [...Object.values(chosen), ...Object.values(written)].some(Boolean)
}

function isBegun(value: unknown): value is Begun {
  if (typeof value !== 'object' || value === null) return false
  return 'chosen' in value && 'written' in value && areTexts(value.chosen) && areTexts(value.written)
}

function areTexts(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string')
}
