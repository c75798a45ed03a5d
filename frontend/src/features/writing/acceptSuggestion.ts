import type { WritingSection } from '@/api/types'
import { mergeTexts } from '@/shared/lib/mergeTexts'
import { editOf, type Drafts } from './useDrafts'
import type { Project } from './useProject'

/** What the person has made of the suggestion for a section, or the suggestion as it is. */
export const suggestedText = (drafts: Drafts, section: WritingSection): string =>
  drafts.of(editOf(section))?.text ?? section.suggestion?.text ?? ''

/**
 * Stores the suggestion as the person has it. What they have written in the section and not saved stays: `joined` with what
 * was accepted where the two change different lines, else `apart` from it, for them to choose.
 */
export async function acceptSuggestion(
  work: Project,
  drafts: Drafts,
  section: WritingSection,
): Promise<'alone' | 'joined' | 'apart'> {
  const text = suggestedText(drafts, section)
  const project = await work.accept(section, section.suggestion?.id ?? '', text)
  drafts.keep(editOf(section), null)
  const stored = project.sections.find(({ id }) => id === section.id)
  const mine = drafts.of(section.id)
  if (!stored || !mine || mine.text === stored.text) return 'alone'
  const merged = mergeTexts(mine.base.text, mine.text, stored.text)
  if (merged === null) return 'apart'
  drafts.keep(section.id, merged === stored.text ? null : { base: stored, text: merged })
  return merged === stored.text ? 'alone' : 'joined'
}
