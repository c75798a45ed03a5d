import { laterTexts } from '@/shared/lib/laterTexts'
import { lazyPart } from '@/shared/ui/lazyPart'
import { askedRecord } from './records'

export { hasPapers, isPdf, matchAttached, notePapers, offerAttachedPapers, recallPapers } from './attachedPapers'
export { withTitles } from './records'
export const AttachedPaper = lazyPart(() => import('./AttachedPaper.vue'))
export const CorpusPage = lazyPart(() => import('./CorpusPage.vue'))
export const PapersPanel = lazyPart(() => import('./PapersPanel.vue'))

/** What stands for a record that is named in an answer. */
export const loadRecordChip = async () => (await Promise.all([import('./RecordChip.vue'), laterTexts()]))[0].default
/** Shows a record in the panel Papers, once that is there. */
export const showRecord = (id: string): void => void (askedRecord.value = { id })

/** Names of the tools by which an agent changes what is kept. */
const KEEPS = /^corpus_(add|tag|annotate|delete)$/

/** Whether a call has changed the papers that are kept. */
export function hasKept({ name, outcome }: { readonly name: string; readonly outcome: string }): boolean {
  return outcome === 'succeeded' && KEEPS.test(name)
}
