import { lazyPart } from '@/shared/ui/lazyPart'

export const WritingPage = lazyPart(() => import('./WritingPage.vue'))
export const DraftPanel = lazyPart(() => import('./DraftPanel.vue'))

/** Names of the tools by which an agent changes a project. */
const WRITES = /^(project_create|outline_set|section_write|section_refine|citation_add)$/

/** Whether a call has changed a project of writing. */
export function hasWritten({ name, outcome }: { readonly name: string; readonly outcome: string }): boolean {
  return outcome === 'succeeded' && WRITES.test(name)
}
