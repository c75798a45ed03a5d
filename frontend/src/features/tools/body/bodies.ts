import { readAtMost } from '@/api/bounded'
import { callRaw, onSignedOut } from '@/api/client'
import { ApiError } from '@/api/problems'

const LARGEST_BYTES = 32_000_000
const KEPT_BYTES = 48_000_000
const KEPT = 200
/** Those that were read last, the latest one at the end: whoever goes back and forth between calls waits once. */
const kept = new Map<string, Blob>()
const underWay = new Map<string, Promise<Blob>>()

function keep(key: string, bytes: Blob): void {
  kept.delete(key)
  kept.set(key, bytes)
  let size = [...kept.values()].reduce((sum, one) => sum + one.size, 0)
  for (const [oldest, one] of kept) {
    if (kept.size === 1 || (size <= KEPT_BYTES && kept.size <= KEPT)) break
    kept.delete(oldest)
    size -= one.size
  }
}

async function fetchBody(sessionId: string, seq: number, signal?: AbortSignal): Promise<Blob> {
  const response = await callRaw('GET', `/sessions/${sessionId}/events/${seq}/body`, signal ? { signal } : {})
  const bytes = await readAtMost(response, LARGEST_BYTES)
  if (bytes === null) throw new ApiError(413, 'body_too_large', '')
  keep(`${sessionId}/${seq}`, bytes)
  return bytes
}

/** The whole body of an event, which never changes. */
export async function readBody(sessionId: string, seq: number, signal: AbortSignal): Promise<Blob> {
  const key = `${sessionId}/${seq}`
  const known = kept.get(key)
  if (known) keep(key, known)
  return known ?? (await (underWay.get(key) ?? fetchBody(sessionId, seq, signal)))
}

/** Reads ahead what is likely to be looked at next. That one can't be read is told where it is looked at. */
export function prefetchBodies(sessionId: string, seqs: readonly number[]): void {
  for (const seq of seqs) {
    const key = `${sessionId}/${seq}`
    if (kept.has(key) || underWay.has(key)) continue
    const reading = fetchBody(sessionId, seq).finally(() => underWay.delete(key))
    reading.catch(() => undefined)
    underWay.set(key, reading)
  }
}

/** What one account read is not for the next one. */
export function forgetBodies(): void {
  kept.clear()
}
onSignedOut(forgetBodies)
