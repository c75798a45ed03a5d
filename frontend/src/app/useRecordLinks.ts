import { useRouter } from 'vue-router'
import { usePanel } from '@/features/computer'
import { loadRecordChip, notePapers, showRecord } from '@/features/research'
import { offerRecords } from '@/shared/lib/records'
import { leaveForms } from '@/shared/lib/unsaved'

/** Records that are named in answers are shown in the panel Papers, or on its page where there are no panels. */
export function useRecordLinks(sessionId: () => string | null, hasPanel: () => boolean, show: () => void): void {
  const panel = usePanel()
  const router = useRouter()
  function open(id: string): void {
    const at = sessionId()
    if (at === null || !hasPanel()) return void router.push({ path: '/corpus', query: { record: id } })
    notePapers(at)
    panel.choose('papers')
    panel.setOpen(true)
    showRecord(id)
    show()
  }
  offerRecords({ load: loadRecordChip, open: (id) => leaveForms(() => open(id)) })
}
