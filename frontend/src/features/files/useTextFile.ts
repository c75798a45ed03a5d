import { computed, ref, shallowRef, watch } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { SavedText, TextFile } from '@/api/types'

const CHANGED = 412

/** A text file that is edited: saved only over what was read, so that nobody's newer text is lost. */
export function useTextFile(sessionId: () => string, path: () => string) {
  const file = shallowRef<TextFile | null>(null)
  const text = ref('')
  const problem = shallowRef<unknown>(null)
  const isSaving = ref(false)
  /** What is in the file by now, where that is neither what was read nor what was saved; null where it was deleted. */
  const newer = shallowRef<TextFile | null | undefined>(undefined)
  let lineBreak = '\n'
  const isChanged = computed(() => file.value !== null && text.value !== shownText(file.value))

  /** The editor knows line feeds alone; a file of another kind keeps its own. */
  function shownText({ content }: TextFile): string {
    return (content ?? '').replace(/\r\n?/g, '\n')
  }
  function show(found: TextFile): void {
    file.value = found
    text.value = shownText(found)
    lineBreak = found.content?.includes('\r\n') ? '\r\n' : '\n'
    newer.value = undefined
  }
  const read = (): Promise<TextFile> =>
    call<TextFile>('GET', `/sessions/${sessionId()}/files/text`, { query: { path: path() } })

  async function load(): Promise<void> {
    const wanted = path()
    problem.value = null
    try {
      const found = await read()
      if (wanted === path()) show(found)
    } catch (error) {
      if (wanted === path()) problem.value = error
    }
  }
  async function save(etag: string | null | undefined = file.value?.etag): Promise<boolean> {
    if (isSaving.value || !file.value) return false
    const wanted = text.value
    isSaving.value = true
    problem.value = null
    try {
      const body = { path: path(), content: wanted.replaceAll('\n', lineBreak), if_match: etag ?? null }
      const saved = await call<SavedText>('PUT', `/sessions/${sessionId()}/files/text`, { body })
      file.value = { ...file.value, content: body.content, etag: saved.etag, size: saved.size }
      newer.value = undefined
      return true
    } catch (error) {
      if (error instanceof ApiError && error.status === CHANGED) await lookAtNewer()
      else problem.value = error
      return false
    } finally {
      isSaving.value = false
    }
  }
  async function lookAtNewer(): Promise<void> {
    try {
      newer.value = await read()
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) newer.value = null
      else problem.value = error
    }
  }
  /** Replaces what is there by now, which the person has seen. */
  const saveOver = (): Promise<boolean> => save(newer.value?.etag ?? null)
  function takeNewer(): void {
    if (newer.value) show(newer.value)
  }
  watch(path, () => {
    file.value = null
    newer.value = undefined
  })
  return { file, text, problem, isSaving, isChanged, newer, load, save, saveOver, takeNewer, shownText }
}
