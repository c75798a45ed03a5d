import { computed, ref, shallowRef } from 'vue'
import { createStops } from './stops'

/** What is on screen: the run that may be stopped, or that one is at work and not known yet. */
interface Shown {
  sessionId: () => string | null
  runId: () => string | null
  mayStop: () => boolean
  isOpening: () => boolean
}
interface Surroundings {
  account: () => string
  isReachable: (sessionId: string) => boolean
  /** What waits behind a stop may go. */
  onSettled: () => void
}

/** The stop of the run on screen: asked for, on its way, or refused. */
export function createRunStop(shown: Shown, { account, isReachable, onSettled }: Surroundings) {
  /** Why the run that is shown was not stopped, as far as it was wanted. */
  const problem = shallowRef<unknown>(null)
  /** Asked for before it was known which run is at work. */
  const asksOnceOpen = ref(false)
  const stops = createStops({
    account,
    mayRetry: isReachable,
    onSettled,
    onRefused: (id, error) => {
      if (id === shown.sessionId()) problem.value = error
      onSettled()
    },
  })
  const stop = computed(() => stops.of(shown.sessionId() ?? ''))
  const isStopping = computed(
    () => (asksOnceOpen.value && shown.isOpening()) || (stop.value !== undefined && stop.value.runId === shown.runId()),
  )

  async function ask(): Promise<void> {
    const [id, runId] = [shown.sessionId(), shown.runId()]
    asksOnceOpen.value = shown.isOpening() && shown.mayStop()
    if (id === null || runId === null || !shown.mayStop()) return
    problem.value = null
    await stops.ask(id, runId)
  }

  return {
    isStopping,
    /** It goes once the server is there again. */
    isHeld: computed(() => isStopping.value && stop.value?.state === 'waiting'),
    problem,
    ask,
    retry: stops.retry,
    isOnItsWay: (id: string): boolean => ['sending', 'waiting'].includes(stops.of(id)?.state ?? ''),
    /** The conversation is open: which run is at work is known. */
    open: (id: string): void => {
      stops.open(id, shown.mayStop() ? shown.runId() : null)
      if (asksOnceOpen.value) void ask()
    },
    end: (id: string, runId: string): void => {
      stops.end(id, runId)
      problem.value = null
    },
    close: (done: boolean): void => {
      const id = shown.sessionId()
      if (done) stops.forget()
      else if (id !== null) stops.leave(id)
      problem.value = null
      asksOnceOpen.value = false
    },
  }
}
