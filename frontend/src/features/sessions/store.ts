import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { call } from '@/api/client'
import type { StreamHandle } from '@/api/stream'
import { openStream } from '@/api/stream'
import type { Session, SessionPage, WireEvent } from '@/api/types'

const PAGE = 50

/** All own sessions, newest first, kept current by the feed of session-level events. */
export const useSessions = defineStore('sessions', () => {
  const byId = ref(new Map<string, Session>())
  const nextCursor = ref<string | null>(null)
  const isLoaded = ref(false)
  const problem = ref<unknown>(null)
  let feed: StreamHandle | null = null
  let cursor: string | null = null

  const list = computed(() =>
    [...byId.value.values()].sort(
      (a, b) => Number(b.pinned ?? false) - Number(a.pinned ?? false) || b.updated_at.localeCompare(a.updated_at),
    ),
  )

  function keep(session: Session): void {
    byId.value.set(session.id, session)
  }

  async function load(): Promise<void> {
    try {
      const page = await call<SessionPage>('GET', '/sessions', { query: { limit: PAGE } })
      byId.value = new Map(page.items.map((session) => [session.id, session]))
      nextCursor.value = page.next_cursor
      problem.value = null
      isLoaded.value = true
    } catch (error) {
      problem.value = error
    }
  }

  async function loadMore(): Promise<void> {
    if (!nextCursor.value) return
    const page = await call<SessionPage>('GET', '/sessions', { query: { limit: PAGE, cursor: nextCursor.value } })
    page.items.forEach(keep)
    nextCursor.value = page.next_cursor
  }

  async function search(text: string, signal: AbortSignal): Promise<Session[]> {
    return (await call<SessionPage>('GET', '/sessions', { query: { limit: 20, q: text }, signal })).items
  }

  async function create(model: string | null): Promise<Session> {
    const session = await call<Session>('POST', '/sessions', { body: model ? { model } : {} })
    keep(session)
    return session
  }

  async function change(id: string, fields: { title?: string; model?: string }): Promise<void> {
    keep(await call<Session>('PATCH', `/sessions/${id}`, { body: fields }))
  }

  async function remove(id: string): Promise<void> {
    await call('DELETE', `/sessions/${id}`)
    byId.value.delete(id)
  }

  /** Takes over what an event says about a session in the list. */
  function take(event: WireEvent): void {
    const session = byId.value.get(event.session_id)
    if (!session) return
    const changed = { ...session, last_seq: Math.max(session.last_seq, event.seq ?? 0) }
    if (event.type === 'session.updated') {
      changed.updated_at = event.at > changed.updated_at ? event.at : changed.updated_at
      changed.title = event.title ?? changed.title
      changed.model = event.model ?? changed.model
      changed.status = (event.status as Session['status'] | null) ?? changed.status
    } else if (event.type === 'run.queued') changed.status = session.status === 'running' ? 'running' : 'queued'
    else if (event.type === 'run.started') changed.status = 'running'
    else if (event.type === 'run.finished') changed.status = 'idle'
    else if (event.type === 'message.user') changed.updated_at = event.at
    keep(changed)
  }

  function follow(): void {
    if (feed) return
    feed = openStream({
      path: '/events',
      query: () => ({ after: cursor ?? undefined }),
      onMessage: (message) => {
        cursor = message.id ?? cursor
        const event = JSON.parse(message.data) as WireEvent
        if (byId.value.has(event.session_id)) take(event)
        else void load()
      },
      onState: (state) => {
        if (state === 'open') void load()
      },
    })
  }

  function unfollow(): void {
    feed?.close()
    feed = null
    cursor = null
    byId.value = new Map()
    isLoaded.value = false
  }

  return {
    byId,
    list,
    nextCursor,
    isLoaded,
    problem,
    load,
    loadMore,
    search,
    create,
    change,
    remove,
    keep,
    take,
    follow,
    unfollow,
  }
})
