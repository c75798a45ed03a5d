import { computed, onScopeDispose, ref, shallowRef, watch } from 'vue'
import { call } from '@/api/client'
import type { WireEvent } from '@/api/types'
import { useProblemText } from '@/api/useProblemText'
import { onFrame } from '@/shared/lib/frames'
import { createPaintSoon } from '@/shared/lib/paintSoon'

const PAGE = 200
/** Of what streams in no more is kept. */
const MOST = 1_000
/** No number of an event is greater. */
const END = 2 ** 53

/** `id` tells frames apart that have no number of their own. */
export interface Frame {
  readonly id: number
  readonly event: WireEvent
  readonly json: string
}

/** The events of a conversation from the last ones on, as they are stored and streamed. */
export function useEventLog(sessionId: () => string) {
  const problemText = useProblemText()
  const frames = shallowRef<readonly Frame[]>([])
  const hasEarlier = ref(false)
  const isLoading = ref(false)
  const problem = ref('')
  const words = ref('')
  /** Pieces of text and output as they stream are many, and stored nowhere. */
  const showsLive = ref(false)
  let abort = new AbortController()
  let all: Frame[] = []
  let next = 0
  const frame = (event: WireEvent): Frame => ({ id: (next += 1), event, json: JSON.stringify(event, null, 2) })
  const paint = createPaintSoon(() => (frames.value = all))

  async function load(): Promise<void> {
    if (isLoading.value) return
    isLoading.value = true
    problem.value = ''
    const { signal } = abort
    try {
      const before = all.find(({ event }) => event.seq !== null)?.event.seq ?? END
      const query = { format: 'json', before, limit: PAGE }
      const { items } = await call<{ items: WireEvent[] }>('GET', `/sessions/${sessionId()}/events`, { query, signal })
      if (signal.aborted) return
      const known = new Set(all.flatMap(({ event }) => event.seq ?? []))
      all = [...items.filter(({ seq }) => seq === null || !known.has(seq)).map(frame), ...all]
      hasEarlier.value = (items[0]?.seq ?? 1) > 1
      frames.value = all
    } catch (error) {
      if (!signal.aborted) problem.value = problemText(error)
    } finally {
      if (!signal.aborted) isLoading.value = false
    }
  }
  const stop = onFrame((given) => {
    const event = given as WireEvent
    if (given.session_id !== sessionId()) return
    if (event.seq === null && !showsLive.value) return
    all = [...all, frame(event)]
    if (all.length > MOST + PAGE) {
      all = all.slice(-MOST)
      hasEarlier.value = true
    }
    paint()
  })
  watch(
    sessionId,
    () => {
      abort.abort()
      abort = new AbortController()
      all = []
      frames.value = []
      isLoading.value = false
      void load()
    },
    { immediate: true },
  )
  onScopeDispose(() => {
    stop()
    abort.abort()
  })
  const shown = computed(() => {
    const wanted = words.value.trim().toLowerCase().split(/\s+/).filter(Boolean)
    return frames.value.filter(
      ({ event, json }) =>
        (showsLive.value || event.seq !== null) && wanted.every((word) => json.toLowerCase().includes(word)),
    )
  })
  return { frames, shown, words, showsLive, hasEarlier, isLoading, problem, load }
}
