import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import { call } from '@/api/client'
import type { ApiError } from '@/api/problems'
import type { StreamHandle } from '@/api/stream'
import { openSharedStream } from '@/api/sharedStream'
import type { FeedEvent, OptionsBody, Session, SessionPage, WireEvent } from '@/api/types'
import { applyFeed, emptyList, type SessionList } from './feed'
import { withAnswer, withEvent, type KnownSession } from './known'

const PAGE = 50
/** How long the list waits for the feed, before it is read without one. */
const WAIT_FOR_FEED_MS = 1_500

/** All own sessions, the one something was said in last first, kept current by the feed of session-level events. */
export const useSessions = defineStore('sessions', () => {
  const known = shallowRef<SessionList>(emptyList)
  const byId = computed(() => known.value.byId)
  const nextCursor = ref<string | null>(null)
  const isLoaded = ref(false)
  const problem = ref<unknown>(null)
  const deleted = shallowRef<ReadonlySet<string>>(new Set())
  const feedTrouble = shallowRef<ApiError | null>(null)
  let feed: StreamHandle | null = null
  let hasAsked = false
  let waiting = 0

  const list = computed(() =>
    [...byId.value.values()].sort(
      (a, b) => Number(b.pinned ?? false) - Number(a.pinned ?? false) || b.active_at.localeCompare(a.active_at),
    ),
  )

  /** Takes over what the server answered, as far as nothing newer is known. */
  function keep(session: Session): void {
    if (!deleted.value.has(session.id)) set(withAnswer(byId.value.get(session.id), session))
  }
  function set(session: KnownSession): void {
    known.value = { ...known.value, byId: new Map(known.value.byId).set(session.id, session) }
  }

  function drop(id: string): void {
    deleted.value = new Set(deleted.value).add(id)
    const rest = new Map(known.value.byId)
    rest.delete(id)
    known.value = { ...known.value, byId: rest }
  }

  /** An answer that comes after the log-out is nothing for whoever logs in next. */
  function following(): () => boolean {
    const asked = feed
    return () => feed === asked
  }

  async function load(): Promise<void> {
    hasAsked = true
    clearTimeout(waiting)
    const before = [...byId.value.values()]
    const isStillFollowed = following()
    try {
      const page = await call<SessionPage>('GET', '/sessions', { query: { limit: PAGE } })
      if (!isStillFollowed()) return
      if (!isLoaded.value) nextCursor.value = page.next_cursor
      page.items.forEach(keep)
      forgetUnlisted(before, page)
      problem.value = null
      isLoaded.value = true
    } catch (error) {
      if (isStillFollowed()) problem.value = error
    }
  }

  /** What was deleted while nobody told of it: the server lists all there are, what was made last first. */
  function forgetUnlisted(before: readonly KnownSession[], { items, next_cursor }: SessionPage): void {
    const listed = new Set(items.map(({ id }) => id))
    const oldest = next_cursor === null ? undefined : items.at(-1)
    const end = oldest ? Date.parse(oldest.created_at) : -Infinity
    const rest = new Map(known.value.byId)
    for (const { id, created_at } of before) if (Date.parse(created_at) > end && !listed.has(id)) rest.delete(id)
    if (rest.size < known.value.byId.size) known.value = { ...known.value, byId: rest }
  }

  async function loadMore(): Promise<void> {
    if (!nextCursor.value) return
    const isStillFollowed = following()
    const page = await call<SessionPage>('GET', '/sessions', { query: { limit: PAGE, cursor: nextCursor.value } })
    if (!isStillFollowed()) return
    page.items.forEach(keep)
    nextCursor.value = page.next_cursor
  }

  async function create(
    model: string | null,
    options: OptionsBody = {},
    preset: string | null = null,
    target: string | null = null,
  ): Promise<Session> {
    const where = target && { target_id: target }
    const body = { ...(model && { model }), ...(preset && { preset }), ...where, options }
    const session = await call<Session>('POST', '/sessions', { body })
    keep(session)
    return session
  }

  async function change(
    id: string,
    fields: {
      title?: string
      pinned?: boolean
      archived?: boolean
      model?: string
      preset?: string
      options?: OptionsBody
    },
  ): Promise<void> {
    keep(await call<Session>('PATCH', `/sessions/${id}`, { body: fields }))
  }

  async function remove(id: string): Promise<void> {
    await call('DELETE', `/sessions/${id}`)
    drop(id)
  }

  /** Takes over what an event says about a session in the list. */
  function take(event: WireEvent): void {
    const session = byId.value.get(event.session_id)
    if (!session) return
    set(withEvent(session, event))
  }

  function takeFeed(event: FeedEvent): void {
    if (event.type === 'session.deleted') deleted.value = new Set(deleted.value).add(event.session_id)
    const isWhole = known.value.gathered !== null
    known.value = applyFeed(known.value, event)
    // The list is read when the feed has begun, so that no change falls between the two.
    if (event.type === 'feed.started') void load()
    if (event.type === 'feed.ready' && isWhole) nextCursor.value = null
    for (const id of known.value.wanted) void fetchOne(id)
    if (known.value.wanted.size > 0) known.value = { ...known.value, wanted: new Set() }
  }

  async function fetchOne(id: string): Promise<void> {
    const isStillFollowed = following()
    try {
      const session = await call<Session>('GET', `/sessions/${id}`)
      if (isStillFollowed()) keep(session)
    } catch {
      return // gone meanwhile, or told again with its next change
    }
  }

  /** What was shown is read, in every tab and on every device. */
  async function markRead(id: string, seq: number): Promise<void> {
    keep(await call<Session>('POST', `/sessions/${id}/read`, { body: { seq } }))
  }

  /** Of all pages of an account in this browser one is told, and tells the others. */
  function follow(account: string): void {
    if (feed) return
    feed = openSharedStream(`deskmate-feed:${account}`, {
      path: '/events',
      // What another page tells meanwhile is no place to go on from before the list is here.
      query: () => ({ after: (isLoaded.value ? known.value.cursor : null) ?? undefined }),
      onMessage: (message) => takeFeed(JSON.parse(message.data) as FeedEvent),
      onState: (state, error) => {
        feedTrouble.value = state === 'reconnecting' ? error : null
        if (state === 'reconnecting' || state === 'ended') loadFirst()
      },
    })
    // A page that nobody sees may have to wait for its turn to follow.
    if (document.visibilityState !== 'visible') loadFirst()
    else waiting = window.setTimeout(loadFirst, WAIT_FOR_FEED_MS)
  }
  /** Where the feed does not begin the list is read all the same, and once more when it does. */
  function loadFirst(): void {
    if (feed && !hasAsked) void load()
  }

  function unfollow(): void {
    feed?.close()
    feed = null
    hasAsked = false
    clearTimeout(waiting)
    known.value = emptyList
    deleted.value = new Set()
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
    create,
    change,
    remove,
    keep,
    take,
    markRead,
    deleted,
    feedTrouble,
    follow,
    unfollow,
    reconnect: () => feed?.reconnect(),
  }
})
