import { readAtMost } from '@/api/bounded'
import { callRaw } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { FoundPicture, Picture } from '@/shared/lib/pictures'
import { pictureUrl } from '@/shared/lib/shownContent'

export interface PictureBounds {
  /** How many are fetched, and how many bytes of one and of all lie in the page's memory. */
  readonly most: number
  readonly bytes: number
  readonly togetherBytes: number
}

/** Pictures of a session's files, fetched one after the other, each once until they may have changed. */
export function pictureStore(sessionId: () => string, bounds: PictureBounds) {
  let asked = new Map<string, Promise<Picture>>()
  let kept = new Map<string, FoundPicture & { readonly size: number }>()
  let last: Promise<unknown> = Promise.resolve()
  let abort = new AbortController()

  async function load(path: string, { signal }: AbortController): Promise<Picture> {
    if (signal.aborted) return null
    try {
      const response = await callRaw('GET', `/sessions/${sessionId()}/files/download`, { query: { path }, signal })
      const others = [...kept.values()].reduce((sum, one) => sum + (one.path === path ? 0 : one.size), 0)
      const bytes = await readAtMost(response, Math.min(bounds.bytes, bounds.togetherBytes - others))
      const url = bytes && (await pictureUrl(bytes, path))
      if (!bytes || !url) return null
      if (signal.aborted) {
        URL.revokeObjectURL(url)
        return null
      }
      const former = kept.get(path)
      // Where it is shown it stays, as it is read already.
      if (former) URL.revokeObjectURL(former.url)
      kept.set(path, { path, url, size: bytes.size })
      return { path, url }
    } catch (error) {
      return error instanceof ApiError && error.status === 404 ? 'missing' : null
    }
  }
  /** One that can't be had stays a link. */
  function find(path: string): Promise<Picture> {
    const known = asked.get(path)
    if (known) return known
    if (asked.size >= bounds.most || (kept.size >= bounds.most && !kept.has(path))) return Promise.resolve(null)
    const mine = abort
    const loading = last.then(() => load(path, mine))
    last = loading
    asked.set(path, loading)
    return loading
  }
  /** They may have changed: what is asked for next is fetched again. */
  function renew(): void {
    asked = new Map()
  }
  function forget(): void {
    abort.abort()
    abort = new AbortController()
    for (const { url } of kept.values()) URL.revokeObjectURL(url)
    asked = new Map()
    kept = new Map()
  }
  return { find, renew, forget }
}
