import { ApiError } from '@/api/problems'
import type { WritingSection } from '@/api/types'
import type { Drafts } from './useDrafts'
import type { Project } from './useProject'

/** Stores the text over the one that has this `etag`. What was typed while it was sent stays a draft, of the stored text. */
export async function storeText(work: Project, drafts: Drafts, id: string, etag: string, text: string): Promise<void> {
  const { sections } = await work.write({ id, etag }, text)
  const stored = sections.find((one) => one.id === id)
  const now = drafts.of(id)?.text
  if (now === undefined || !stored) return
  drafts.keep(id, now === text ? null : { base: { etag: stored.etag, text: stored.text }, text: now })
}

/**
 * Stores the text of every section that is not saved. Answers the sections that somebody else has changed meanwhile: theirs
 * are not stored, as the person has to choose.
 */
export async function saveDrafts(work: Project, drafts: Drafts): Promise<WritingSection[]> {
  const apart: WritingSection[] = []
  for (const { id } of work.project.value?.sections ?? []) {
    // Once more where it was changed while it was sent: what else saved may have been this very text.
    for (let isOver = false; ; isOver = true) {
      const section = work.project.value?.sections.find((one) => one.id === id)
      const draft = drafts.of(id)
      if (!section || !draft || draft.text === section.text) break
      if (draft.base.text !== section.text) {
        apart.push(section)
        break
      }
      try {
        await storeText(work, drafts, id, section.etag, draft.text)
        break
      } catch (error) {
        if (isOver || !(error instanceof ApiError) || ![404, 409, 412].includes(error.status)) throw error
        await work.load()
      }
    }
  }
  return apart
}
