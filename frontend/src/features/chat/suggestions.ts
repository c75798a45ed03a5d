import type { Item } from './transcript'

const BEGINS = /^(?:try next|next you can|接下来可以试试|可以试试)\s*[:：]/i
const MOST = 3
const LONGEST = 80

/** What an answer says can be asked for next: the pieces of code in its last paragraph, where that begins so. */
export function suggestionsIn(text: string): string[] {
  const last =
    text
      .trim()
      .split(/\n\s*\n/)
      .at(-1) ?? ''
  if (!BEGINS.test(last)) return []
  const pieces = [...last.matchAll(/`([^`\n]+)`/g)].map(([, piece = '']) => piece.trim())
  return [...new Set(pieces)].filter((piece) => piece !== '' && piece.length <= LONGEST).slice(0, MOST)
}

/** Those of the last answer, as long as nothing came after it but its end. */
export function lastSuggestions(items: readonly Item[]): string[] {
  const last = items.at(-1)
  if (last?.kind !== 'end' || last.status !== 'completed') return []
  const answer = items.at(-2)
  return answer?.kind === 'assistant' ? suggestionsIn(answer.text) : []
}
