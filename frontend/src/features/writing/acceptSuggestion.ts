import type { WritingProject, WritingSection } from '@/api/types'
import { mergeTexts } from '@/shared/lib/mergeTexts'
import { editOf, type Drafts } from './useDrafts'
import type { Project } from './useProject'

/** What the person has made of the suggestion for a section, or the suggestion as it is. */
export const suggestedText = (drafts: Drafts, section: WritingSection): string =>
  drafts.of(editOf(section))?.text ?? section.suggestion?.text ?? ''

/** What became of what the person has written in the section and not saved. */
export type Accepted = 'alone' | 'joined' | 'apart'

/**
 * Stores the suggestion as the person has it. What they have written in the section and not saved stays: `joined` with what
 * was accepted where the two change different lines, else `apart` from it, for them to choose.
 */
export async function acceptSuggestion(work: Project, drafts: Drafts, section: WritingSection): Promise<Accepted> {
  const text = suggestedText(drafts, section)
  const project = await work.accept(section, section.suggestion?.id ?? '', text)
  drafts.keep(editOf(section), null)
  return joined(drafts, project, section)
}

/**
 * Stores `text`, which is the section with some changes of the suggestion: these are decided, and the suggestion stays for
 * the others. Where there are none it is accepted.
 */
export async function acceptChanges(
  work: Project,
  drafts: Drafts,
  section: WritingSection,
  text: string,
): Promise<Accepted> {
  if (text === suggestedText(drafts, section)) return await acceptSuggestion(work, drafts, section)
  return joined(drafts, await work.write(section, text, section.suggestion?.id), section)
}

function joined(drafts: Drafts, project: WritingProject, { id: of }: WritingSection): Accepted {
  const stored = project.sections.find(({ id }) => id === of)
  const mine = drafts.of(of)
  if (!stored || !mine || mine.text === stored.text) return 'alone'
  const merged = mergeTexts(mine.base.text, mine.text, stored.text)
  if (merged === null) return 'apart'
  drafts.keep(of, merged === stored.text ? null : { base: stored, text: merged })
  return merged === stored.text ? 'alone' : 'joined'
}
