import { onScopeDispose, shallowRef, watch } from 'vue'
import { readAtMost } from '@/api/bounded'
import { call, callRaw } from '@/api/client'
import type { WireEvent } from '@/api/types'
import { useSessions } from '@/features/sessions'
import { pictureUrl } from '@/shared/lib/shownContent'

/** So many of the last conversations are looked through, for so many pictures. */
const LOOKED_AT = 6
const MOST = 3
const EVENTS = 100
const LARGEST_BYTES = 4_000_000
/** No number of an event is greater. */
const END = 2 ** 53

export interface LastScreen {
  readonly sessionId: string
  readonly title: string
  readonly url: string
}

/** What was seen last on the computers of the last conversations, where a call kept a picture of it. */
export function useLastScreens() {
  const sessions = useSessions()
  const screens = shallowRef<readonly LastScreen[]>([])
  const abort = new AbortController()
  const { signal } = abort

  async function find(sessionId: string): Promise<string | null> {
    const query = { format: 'json', before: END, limit: EVENTS }
    const page = await call<{ items: WireEvent[] }>('GET', `/sessions/${sessionId}/events`, { query, signal })
    const last = page.items.findLast(
      (event) => event.type === 'tool.finished' && event.body?.media_type.startsWith('image/'),
    )
    if (last?.seq == null) return null
    const response = await callRaw('GET', `/sessions/${sessionId}/events/${last.seq}/body`, { signal })
    const bytes = await readAtMost(response, LARGEST_BYTES)
    return bytes && (await pictureUrl(bytes, ''))
  }
  async function load(): Promise<void> {
    for (const { id, title } of sessions.list.slice(0, LOOKED_AT)) {
      if (screens.value.length >= MOST || signal.aborted) return
      const url = await find(id).catch(() => null)
      if (url === null) continue
      if (signal.aborted) return URL.revokeObjectURL(url)
      screens.value = [...screens.value, { sessionId: id, title, url }]
    }
  }
  const stop = watch(
    () => sessions.isLoaded,
    (isLoaded) => isLoaded && void load(),
    { immediate: true },
  )
  onScopeDispose(() => {
    stop()
    abort.abort()
    for (const { url } of screens.value) URL.revokeObjectURL(url)
  })
  return screens
}
