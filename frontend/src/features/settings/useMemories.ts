import { onScopeDispose, ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { MemoryFile, MemoryList } from '@/api/types'

const MAX_CHARACTERS = 120
const MAX_PARTS = 5
const PART = /^[\p{L}\p{N}_@+(),.-]([\p{L}\p{N}_ @+(),.-]*[\p{L}\p{N}_@+(),.-])?$/u

/** What the server takes for a name; in an address the parts `.` and `..` would lead to another one. */
export function isNameable(path: string): boolean {
  const parts = path.split('/')
  return (
    [...path].length <= MAX_CHARACTERS &&
    parts.length <= MAX_PARTS &&
    parts.every((part) => PART.test(part) && part !== '.' && part !== '..')
  )
}

export function memoryUrl(path: string): string {
  return `/memories/${path.split('/').map(encodeURIComponent).join('/')}`
}

/** Somebody else changed it, took its name, or deleted it, since it was read. */
export function isConflict(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  return error.status === 412 || ['memory_exists', 'memory_not_found'].includes(error.code)
}

/** What the agent remembers; what is written or deleted has to be as it was read, or is refused. */
export function useMemories() {
  const list = shallowRef<MemoryList | null>(null)
  const problem = shallowRef<unknown>(null)
  const isLoading = ref(false)
  const abort = new AbortController()
  let asked = 0

  async function load(): Promise<void> {
    const mine = (asked += 1)
    isLoading.value = true
    problem.value = null
    try {
      const found = await call<MemoryList>('GET', '/memories', { signal: abort.signal })
      if (mine === asked) list.value = found
    } catch (error) {
      if (mine === asked && !abort.signal.aborted) problem.value = error
    } finally {
      if (mine === asked) isLoading.value = false
    }
  }
  /** Null: it is gone. */
  async function read(path: string): Promise<MemoryFile | null> {
    try {
      return await call<MemoryFile>('GET', memoryUrl(path), { signal: abort.signal })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'memory_not_found') return null
      throw error
    }
  }
  /** Without an `etag` it is new. */
  async function write(path: string, content: string, etag: string | null): Promise<MemoryFile> {
    const headers: Record<string, string> = etag ? { 'If-Match': `"${etag}"` } : {}
    const written = await call<MemoryFile>('PUT', memoryUrl(path), { body: { content }, headers })
    await load()
    return written
  }
  async function remove(path: string, etag: string): Promise<void> {
    await call('DELETE', memoryUrl(path), { headers: { 'If-Match': `"${etag}"` } })
    await load()
  }
  void load()
  onScopeDispose(() => abort.abort())
  return { list, problem, isLoading, load, read, write, remove }
}
