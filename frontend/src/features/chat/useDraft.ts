import { ref, watch } from 'vue'
import { keepDraft, recallDraft } from './drafts'
import { isOverLimit } from './useBrought'

/** What `writer` writes to a conversation, kept as it is written. */
export function useDraft(writer: () => string | null, sessionId: () => string | null) {
  const text = ref('')
  /** Kept words that are too many for a message: they stay out of the box, until they are attached or discarded. */
  const longDraft = ref('')
  const keep = (words: string): void => keepDraft(writer(), sessionId(), words)
  watch(
    [writer, sessionId],
    () => {
      const kept = recallDraft(writer(), sessionId())
      longDraft.value = isOverLimit(kept) ? kept : ''
      text.value = longDraft.value ? '' : kept
    },
    { immediate: true },
  )
  watch(text, (words) => {
    if (!longDraft.value) keep(words)
  })
  /** What is written goes away at once, before whatever follows of that. */
  function take(): string {
    const words = text.value.trim()
    text.value = ''
    if (!longDraft.value) keep('')
    return words
  }
  function takeLong(): string {
    const words = longDraft.value
    longDraft.value = ''
    keep(text.value)
    return words
  }
  return { text, longDraft, take, takeLong }
}
