import { recallDraft, keepDraft } from './drafts'
import { keepChoices, recallChoices } from './firstChoices'

/** What the next new conversation of `writer` begins with, before they send it: these words, above what they began, and a preset. */
export function beginWith(writer: string | null, text: string, preset: string): void {
  const draft = recallDraft(writer, null)
  if (!draft.includes(text.trim())) keepDraft(writer, null, draft ? `${text.trimEnd()}\n\n${draft}` : text)
  keepChoices(writer, { ...recallChoices(writer), preset })
}
