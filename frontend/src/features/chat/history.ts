import { call } from '@/api/client'
import type { SessionState, WireEvent } from '@/api/types'
import { seedOf } from './opening'
import { reduceRead, wholePath, type ShownPath } from './path'
import { allCalls } from './subagents'
import { isActive, type Transcript } from './transcript'
import { openWaits } from './waits'

export type StoredEvent = Exclude<WireEvent, { seq: null }>
interface EventPage {
  items: StoredEvent[]
  last_seq: number
  has_more: boolean
  path?: number[][] | null
  path_since?: number
}

/** The last ones, which are shown first. */
const PAGE = 300
/** Those before, once they are asked for. */
const OLDER_PAGE = 600
/** No number of an event is greater. */
const END = 2 ** 53
/** So long at a time is worked on what nobody waits for. */
const SLICE_MS = 6

async function pageBefore(id: string, before: number, limit: number, signal: AbortSignal): Promise<EventPage> {
  const query = { format: 'json', before, limit, on_path: 'true' }
  return await call<EventPage>('GET', `/sessions/${id}/events`, { query, signal })
}

/**
 * What was loaded of a conversation: the last events of its path, and older ones as they are asked for. Items of what was
 * loaded stand from the end of a run on, where that is near, so that no page begins within a turn.
 */
export function createHistory() {
  let loaded: StoredEvent[] = []
  /** Where in `loaded` what is shown begins. */
  let begin = 0
  let opened: SessionState | null = null
  let path: ShownPath = wholePath
  /** The server has more before what is loaded. */
  let isMore = false

  const hasEarlier = (): boolean => begin > 0 || isMore
  const reduce = (state: Transcript, event: StoredEvent): Transcript => reduceRead(state, event, path)
  const keep = (event: StoredEvent): void => void loaded.push(event)
  function forget(): void {
    loaded = []
    begin = 0
    opened = null
    path = wholePath
    isMore = false
  }
  function from(start: number): Transcript {
    const seed = seedOf(opened, loaded.slice(start))
    return path.since > 0 ? { ...seed, branchesSeq: path.since } : seed
  }
  /** More before what is loaded; false where there is none. */
  async function extend(id: string, limit: number, signal: AbortSignal): Promise<boolean> {
    if (loaded.length > 0 && !isMore) return false
    const page = await pageBefore(id, loaded[0]?.seq ?? END, limit, signal)
    const { items } = page
    if (signal.aborted) return false
    if (loaded.length === 0) path = { ranges: page.path ?? null, since: page.path_since ?? 0 }
    isMore = page.has_more
    if (items.length === 0) return false
    loaded = [...items, ...loaded]
    begin += items.length
    return true
  }

  /** The conversation at its end, as `state` answers of it. */
  async function open(id: string, state: Promise<SessionState>, signal: AbortSignal): Promise<Transcript> {
    const first = extend(id, PAGE, signal)
    ;[opened] = await Promise.all([state, first])
    begin = 0
    for (;;) {
      begin = turnBegin(loaded, isMore)
      const shown = loaded.slice(begin).reduce(reduce, from(begin))
      if (!lacksEarlier(shown, loaded) || !(await extend(id, 2 * OLDER_PAGE, signal))) return shown
    }
  }

  /** `now`, with what was before it; null where nothing came of it. New events may be kept meanwhile. */
  async function earlier(id: string, now: () => Transcript, signal: AbortSignal): Promise<Transcript | null> {
    if (!(await extend(id, OLDER_PAGE, signal)) && begin === 0) return null
    const until = begin
    const start = turnBegin(loaded.slice(0, until), isMore)
    let before = from(start)
    let at = start
    /** To where there is nothing more; that may grow meanwhile. */
    async function fold(end: () => number): Promise<boolean> {
      while (at < end()) {
        const pause = performance.now() + SLICE_MS
        for (; at < end() && performance.now() < pause; at += 1) before = reduce(before, loaded[at] as StoredEvent)
        if (at < end()) await new Promise((resolve) => setTimeout(resolve))
        if (signal.aborted) return false
      }
      return true
    }
    if (!(await fold(() => until))) return null
    const isOver = isSettled(before)
    if (!isOver && !(await fold(() => loaded.length))) return null
    begin = start
    return isOver ? joined(before, now()) : { ...now(), ...longer(before) }
  }

  return { open, earlier, keep, forget, hasEarlier }
}

/** After the end of a run that is near the beginning: what came before it is shown once all of its run is there. */
export function turnBegin(events: readonly StoredEvent[], isMore: boolean): number {
  if (!isMore) return 0
  const after = events.findIndex(({ type }) => type === 'run.finished') + 1
  return after <= events.length / 2 ? after : 0
}

/** A run goes on of which so little is loaded that what waits for the person, or who works, is not among it. */
function lacksEarlier(shown: Transcript, events: readonly StoredEvent[]): boolean {
  const { run } = shown
  if (run === null || !(isActive(shown) || run.status === 'waiting')) return false
  if (events.some(({ type, run_id: id }) => type === 'run.started' && id === run.id)) return false
  if (run.status === 'waiting' && openWaits(shown.items) === 0) return true
  const known = new Set(allCalls(shown.items).map(({ agentId }) => agentId))
  return events.some((event) => 'agent_id' in event && event.agent_id !== undefined && !known.has(event.agent_id))
}

/** Nothing that comes later changes what stands there. */
function isSettled(state: Transcript): boolean {
  if (isActive(state) || state.run?.status === 'waiting' || openWaits(state.items) > 0) return false
  return allCalls(state.items).every(
    ({ outcome, teammate }) => outcome !== 'running' && outcome !== 'asking' && teammate === null,
  )
}

const longer = ({ items, modelCalls, background }: Transcript): Partial<Transcript> => ({
  items,
  modelCalls,
  background,
})

function joined(before: Transcript, now: Transcript): Transcript {
  const later = new Set(now.background.map(({ id }) => id))
  return {
    ...now,
    items: [...before.items, ...now.items],
    modelCalls: [...before.modelCalls, ...now.modelCalls],
    background: [...before.background.filter(({ id }) => !later.has(id)), ...now.background],
  }
}
