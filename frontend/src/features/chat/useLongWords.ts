import { ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { countPoints } from '@/shared/lib/codepoints'

/** Characters that a message may have at most. */
const LONGEST = 100_000

export const isOverLimit = (words: string): boolean => words.length > LONGEST && countPoints(words) > LONGEST

/**
 * Words that are too many for a message go along as a file, and never into the box: laying them out would stop the page
 * for minutes.
 */
export function useLongWords(takesFiles: () => boolean, bring: (files: File[]) => void) {
  const { t } = useI18n()
  /** A draft that was kept, until it is attached or discarded. */
  const draft = ref('')
  const isAttached = ref(false)
  /** Pasted words were too many, and there is no place for files. */
  const isTooMuch = ref(false)

  function forget(): void {
    isAttached.value = isTooMuch.value = false
  }
  /** What of a kept draft goes into the box. */
  function fitting(kept: string): string {
    draft.value = isOverLimit(kept) ? kept : ''
    return draft.value ? '' : kept
  }
  /** `words` come into the text in place of what is selected there. Whether that were too many, and they go along. */
  function take(words: string, text: string, start: number, end: number): boolean {
    const whole = text.length - (end - start) + words.length
    if (whole <= LONGEST || !isOverLimit(text.slice(0, start) + words + text.slice(end))) return false
    isTooMuch.value = !takesFiles()
    if (takesFiles()) attach(words)
    return true
  }
  function attach(words: string): void {
    bring([new File([words], t('composer.pastedFile'), { type: 'text/plain' })])
    isAttached.value = true
  }
  /** The kept draft is attached, or discarded. */
  function leave(isWanted: boolean): void {
    const words = draft.value
    draft.value = ''
    if (isWanted) attach(words)
  }
  return { draft, isAttached, isTooMuch, forget, fitting, take, leave }
}
