import { lazyPart } from '@/shared/ui/lazyPart'

export { hasPapers, isPdf, matchAttached, notePapers, offerAttachedPapers, recallPapers } from './attachedPapers'
export const AttachedPaper = lazyPart(() => import('./AttachedPaper.vue'))
export const CorpusPage = lazyPart(() => import('./CorpusPage.vue'))
export const PapersPanel = lazyPart(() => import('./PapersPanel.vue'))

/** Names of the tools by which an agent changes what is kept. */
const KEEPS = /^corpus_(add|tag|annotate|delete)$/

/** Whether a call has changed the papers that are kept. */
export function hasKept({ name, outcome }: { readonly name: string; readonly outcome: string }): boolean {
  return outcome === 'succeeded' && KEEPS.test(name)
}
