import { computed } from 'vue'
import { showInvisible } from '@/shared/lib/invisibleCharacters'
import type { ToolCard } from './body/card'
import { viewOf } from './kinds'
import { isWorkspace, useToolPhrase } from './useToolPhrase'

/** A call in words, and what it is about where they do not say it. */
export function useCallTitle(card: () => ToolCard) {
  const toolPhrase = useToolPhrase()
  const phrase = computed(() => showInvisible(toolPhrase(card())))
  const target = computed(() => {
    const text = showInvisible(viewOf(card()).target(card()).split('\n')[0] ?? '')
    return isWorkspace(text) || phrase.value.includes(text) ? '' : text
  })
  return { phrase, target }
}
