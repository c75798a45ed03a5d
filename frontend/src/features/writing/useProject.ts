import { onScopeDispose, ref, shallowRef } from 'vue'
import { call, callRaw } from '@/api/client'
import type {
  CitationCheck,
  CitationStyle,
  WholeRevision,
  WritingProject,
  WritingRevisionPage,
  WritingSection,
} from '@/api/types'

export const FORMATS = ['pdf', 'docx', 'latex', 'html', 'markdown'] as const
export type ExportFormat = (typeof FORMATS)[number]
const ENDINGS: Record<ExportFormat, string> = { pdf: 'pdf', docx: 'docx', latex: 'zip', html: 'html', markdown: 'md' }

export interface HeadingChange {
  id?: string
  title: string
  level: number
  brief: string
}
export interface SettingsChange {
  title: string
  kind: string
  style: string
  language: string
  authors: string[]
}
export type Project = ReturnType<typeof useProject>

const matching = (etag: string): Record<string, string> => ({ 'If-Match': `"${etag}"` })

/** A project of writing. What is changed of it has to be as it was read: the server refuses it else, with 412. */
export function useProject(id: string) {
  const project = shallowRef<WritingProject | null>(null)
  const styles = shallowRef<CitationStyle[]>([])
  const check = shallowRef<CitationCheck | null>(null)
  const isChecking = ref(false)
  const abort = new AbortController()
  const path = `/writing/${encodeURIComponent(id)}`
  const { signal } = abort

  let begun = 0
  let shown = 0
  async function changed(work: Promise<WritingProject>): Promise<WritingProject> {
    const fresh = await work
    shown = begun += 1
    return (project.value = fresh)
  }
  /** Tells nothing older than what is shown: a slow answer may come after that of a change, or of a later reading. */
  async function load(): Promise<WritingProject> {
    const mine = (begun += 1)
    const fresh = await call<WritingProject>('GET', path, { signal })
    if (mine < shown && project.value) return project.value
    shown = mine
    return (project.value = fresh)
  }
  async function loadStyles(): Promise<void> {
    styles.value = await call<CitationStyle[]>('GET', '/writing/styles', { signal })
  }
  /** `suggestion` names the one that some changes of the text are taken from: it stays for the others. */
  const write = (
    section: Pick<WritingSection, 'id' | 'etag'>,
    text: string,
    suggestion?: string,
  ): Promise<WritingProject> =>
    changed(
      call('PUT', `${path}/sections/${section.id}`, {
        body: { text, ...(suggestion && { of_suggestion: suggestion }) },
        headers: matching(section.etag),
      }),
    )
  const setOutline = (outline: HeadingChange[], drop = false): Promise<WritingProject> =>
    changed(
      call('PUT', `${path}/outline`, {
        body: { outline, drop },
        headers: matching(project.value?.outline_etag ?? ''),
      }),
    )
  const setSettings = (body: SettingsChange): Promise<WritingProject> =>
    changed(call('PATCH', path, { body, headers: matching(project.value?.etag ?? '') }))
  const accept = (section: WritingSection, suggestion: string, text: string): Promise<WritingProject> =>
    changed(
      call('POST', `${path}/sections/${section.id}/suggestion/${suggestion}`, {
        body: { text },
        headers: matching(section.etag),
      }),
    )
  const reject = (section: WritingSection, suggestion: string): Promise<WritingProject> =>
    changed(call('DELETE', `${path}/sections/${section.id}/suggestion/${suggestion}`))
  const addReference = (record: string): Promise<WritingProject> =>
    changed(call('POST', `${path}/bibliography`, { body: { record_id: record } }))
  const removeReference = (key: string): Promise<WritingProject> =>
    changed(call('DELETE', `${path}/bibliography/${encodeURIComponent(key)}`))
  const revisions = (part: string, cursor?: string): Promise<WritingRevisionPage> =>
    call('GET', `${path}/revisions`, { query: { part, cursor, limit: 30 }, signal })
  const revision = (name: string): Promise<WholeRevision> => call('GET', `${path}/revisions/${name}`, { signal })
  const restore = (name: string, etag: string): Promise<WritingProject> =>
    changed(call('POST', `${path}/revisions/${name}/restore`, { headers: matching(etag) }))
  async function preview(): Promise<string> {
    return (await call<{ html: string }>('GET', `${path}/preview`, { signal })).html
  }
  async function checkCitations(): Promise<CitationCheck> {
    isChecking.value = true
    try {
      return (check.value = await call<CitationCheck>('POST', `${path}/check`, { signal }))
    } finally {
      isChecking.value = false
    }
  }
  async function download(format: ExportFormat, anyway: boolean): Promise<void> {
    const answer = await callRaw('POST', `${path}/export`, {
      query: { format, anyway: anyway ? 'true' : undefined },
      signal,
    })
    const anchor = document.createElement('a')
    anchor.href = URL.createObjectURL(await answer.blob())
    anchor.download = `${project.value?.title.replace(/[^\p{L}\p{N} -]+/gu, '').slice(0, 80) || 'draft'}.${ENDINGS[format]}`
    anchor.click()
    setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000)
  }
  async function remove(): Promise<void> {
    await call('DELETE', path)
  }
  onScopeDispose(() => abort.abort())
  return {
    ...{ project, styles, check, isChecking, load, loadStyles, write, setOutline, setSettings, accept, reject },
    ...{ addReference, removeReference, revisions, revision, restore, preview, checkCitations, download, remove },
  }
}
