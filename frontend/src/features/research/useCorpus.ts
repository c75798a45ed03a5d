import { onScopeDispose, reactive, ref, shallowRef, watch } from 'vue'
import { call, callRaw } from '@/api/client'
import { forgetRecord } from './records'
import type { CorpusAdded, CorpusImport, CorpusMatch, CorpusPage, CorpusRecord, CorpusTag } from '@/api/types'

const TYPED_MS = 250
const PAGE = 50
export type BibliographyFormat = 'bibtex' | 'ris'

/** By its name, else by what it begins with. */
export function formatOf(name: string, begin: string): BibliographyFormat {
  if (/\.ris$/i.test(name)) return 'ris'
  if (/\.bib$/i.test(name)) return 'bibtex'
  return /^TY {0,2}-/m.test(begin) ? 'ris' : 'bibtex'
}

function year(text: string): number | undefined {
  return /^\d{4}$/.test(text.trim()) ? Number(text) : undefined
}

/** The papers that the person keeps, as the filters leave them, of a conversation or all. What changes one has to be as it was read. */
export function useCorpus(sessionId: () => string = () => '') {
  const filters = reactive({ q: '', tag: '', source: '', yearFrom: '', yearTo: '' })
  const items = shallowRef<CorpusRecord[] | null>(null)
  const tags = shallowRef<CorpusTag[]>([])
  const total = ref(0)
  const cursor = ref<string | null>(null)
  const isEnabled = ref(true)
  const isLoading = ref(false)
  const problem = shallowRef<unknown>(null)
  const abort = new AbortController()
  let asked = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const query = () => ({
    q: filters.q.trim() || undefined,
    tag: filters.tag || undefined,
    source: filters.source || undefined,
    year_from: year(filters.yearFrom),
    year_to: year(filters.yearTo),
    session_id: sessionId() || undefined,
  })
  async function fetchPage(after?: string): Promise<void> {
    const mine = (asked += 1)
    isLoading.value = true
    problem.value = null
    try {
      const found = await call<CorpusPage>('GET', '/corpus', {
        query: { ...query(), limit: PAGE, cursor: after },
        signal: abort.signal,
      })
      if (mine !== asked) return
      items.value = after ? [...(items.value ?? []), ...found.items] : found.items
      total.value = found.total
      cursor.value = found.next_cursor
      isEnabled.value = found.is_enabled
    } catch (error) {
      if (mine === asked && !abort.signal.aborted) problem.value = error
    } finally {
      if (mine === asked) isLoading.value = false
    }
  }
  async function loadTags(): Promise<void> {
    try {
      tags.value = await call<CorpusTag[]>('GET', '/corpus/tags', { signal: abort.signal })
    } catch {
      // They only help to filter: the list itself tells what is wrong.
    }
  }
  async function load(): Promise<void> {
    await fetchPage()
    if (isEnabled.value) await loadTags()
  }
  const more = (): Promise<void> => fetchPage(cursor.value ?? undefined)

  async function add(id: string): Promise<CorpusAdded> {
    const body = { id, ...(sessionId() ? { session_id: sessionId() } : {}) }
    const added = await call<CorpusAdded>('POST', '/corpus', { body })
    await load()
    return added
  }
  async function read(id: string): Promise<CorpusRecord> {
    return await call<CorpusRecord>('GET', `/corpus/${encodeURIComponent(id)}`, { signal: abort.signal })
  }
  async function change(record: CorpusRecord, body: { notes?: string; tags?: string[] }): Promise<CorpusRecord> {
    const headers = { 'If-Match': `"${record.etag}"` }
    const changed = await call<CorpusRecord>('PATCH', `/corpus/${encodeURIComponent(record.id)}`, { body, headers })
    items.value = items.value?.map((one) => (one.id === changed.id ? changed : one)) ?? null
    if (body.tags) await loadTags()
    return changed
  }
  async function remove(id: string): Promise<void> {
    await call('DELETE', `/corpus/${encodeURIComponent(id)}`)
    forgetRecord(id)
    await load()
  }
  async function takeIn(file: File): Promise<CorpusImport> {
    const form = new FormData()
    form.set('file', file)
    const format = formatOf(file.name, await file.slice(0, 4_096).text())
    const answer = await callRaw('POST', '/corpus/import', { query: { format }, form })
    const found = (await answer.json()) as CorpusImport
    await load()
    return found
  }
  /** Whose paper a PDF is; one that is kept is linked to the conversation. */
  async function match(file: File): Promise<CorpusMatch> {
    const form = new FormData()
    form.set('file', file)
    const query = { session_id: sessionId() || undefined }
    const found = (await (await callRaw('POST', '/corpus/match', { query, form })).json()) as CorpusMatch
    if (found.record) await load()
    return found
  }
  /** What the filters leave, as a file. */
  async function download(format: BibliographyFormat, name: string): Promise<void> {
    const answer = await callRaw('GET', '/corpus/export', { query: { ...query(), format } })
    const anchor = document.createElement('a')
    anchor.href = URL.createObjectURL(await answer.blob())
    anchor.download = name
    anchor.click()
    setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000)
  }

  watch(filters, () => {
    clearTimeout(timer)
    timer = setTimeout(() => void fetchPage(), TYPED_MS)
  })
  void load()
  onScopeDispose(() => {
    clearTimeout(timer)
    abort.abort()
  })
  return {
    ...{ filters, items, tags, total, cursor, isEnabled, isLoading, problem },
    ...{ load, more, add, read, change, remove, takeIn, match, download },
  }
}
