import { onScopeDispose, watch } from 'vue'
import { readAtMost } from '@/api/bounded'
import { callRaw } from '@/api/client'
import { offerPictures, type FoundPicture } from '@/shared/lib/pictures'
import { workspacePath } from '@/shared/lib/workspacePath'
import { pictureUrl } from '@/shared/lib/shownContent'
import { isImage } from './kinds'

/** Of one document: what it names may be many and large, and lies in the page's memory. */
export const MOST_PICTURES = 20
export const LARGEST_PICTURE_BYTES = 8_000_000
export const LARGEST_TOGETHER_BYTES = 40_000_000

/** The file of the workspace that a document means by an address, null where it means none or one outside. */
export function pathBeside(document: string, address: string): string | null {
  const path = workspacePath(address)
  if (path === null) return null
  const steps = address.startsWith('/') ? [] : document.split('/').slice(0, -1)
  for (const step of path.split('/')) {
    if (step === '..' && steps.pop() === undefined) return null
    if (!['', '.', '..'].includes(step)) steps.push(step)
  }
  return steps.join('/') || null
}

/** Offers the pictures that lie beside a document, fetched one after the other as the session's own files. */
export function offerDocumentPictures(sessionId: () => string, document: () => string, version: () => number): void {
  let found = new Map<string, Promise<FoundPicture | null>>()
  let last: Promise<unknown> = Promise.resolve()
  let left = LARGEST_TOGETHER_BYTES
  let abort = new AbortController()

  async function load(path: string, { signal }: AbortController): Promise<FoundPicture | null> {
    if (signal.aborted) return null
    const response = await callRaw('GET', `/sessions/${sessionId()}/files/download`, { query: { path }, signal })
    const bytes = await readAtMost(response, Math.min(LARGEST_PICTURE_BYTES, left))
    const url = bytes && (await pictureUrl(bytes, path))
    if (!bytes || !url) return null
    if (signal.aborted) {
      URL.revokeObjectURL(url)
      return null
    }
    left -= bytes.size
    return { path, url }
  }
  function find(address: string): Promise<FoundPicture | null> {
    const path = pathBeside(document(), address)
    if (path === null || !isImage(path)) return Promise.resolve(null)
    const known = found.get(path)
    if (known) return known
    if (found.size >= MOST_PICTURES) return Promise.resolve(null)
    const mine = abort
    // One that can't be had stays a link.
    const loading = last.then(() => load(path, mine)).catch(() => null)
    last = loading
    found.set(path, loading)
    return loading
  }
  function forget(): void {
    abort.abort()
    abort = new AbortController()
    for (const loading of found.values()) void loading.then((one) => one && URL.revokeObjectURL(one.url))
    found = new Map()
    left = LARGEST_TOGETHER_BYTES
  }
  watch([sessionId, document, version], forget, { flush: 'sync' })
  onScopeDispose(forget)
  offerPictures(find)
}
