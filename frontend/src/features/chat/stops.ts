import { shallowReactive } from 'vue'
import { call } from '@/api/client'
import { recall, remember, stopsOf } from '@/shared/lib/storage'
import { isForLater, LATER_MS } from './outbox'

/** After this the connection counts as dead; a stop that comes twice stops once. */
const POST_MS = 30_000

/** A stop that a person asked for, until its run has ended. One that waits goes once the server is there again. */
export interface Stop {
  readonly runId: string
  readonly state: 'sending' | 'waiting' | 'sent'
}

interface Surroundings {
  /** Whose stops these are, in the browser's storage. */
  account: () => string
  /** Whether a stop that waits in a conversation may be tried again now. */
  mayRetry: (sessionId: string) => boolean
  /** The server has it, or there is nothing to stop any more. */
  onSettled: (sessionId: string) => void
  /** It was refused, and is not tried again. */
  onRefused: (sessionId: string, error: unknown) => void
}

/** The stops on their way to each conversation: of the very run that was seen when they were asked for, and no later one. */
export function createStops({ account, mayRetry, onSettled, onRefused }: Surroundings) {
  const stops = shallowReactive(new Map<string, Stop>())
  let timer = 0

  const key = (sessionId: string): string => `${stopsOf(account())}${sessionId}`
  const of = (sessionId: string): Stop | undefined => stops.get(sessionId)

  function drop(sessionId: string): void {
    stops.delete(sessionId)
    remember(key(sessionId), null)
  }
  async function send(sessionId: string): Promise<void> {
    const stop = of(sessionId)
    if (stop?.state !== 'waiting') return
    const { runId } = stop
    const isStill = (): boolean => of(sessionId)?.runId === runId
    stops.set(sessionId, { runId, state: 'sending' })
    try {
      const signal = AbortSignal.timeout(POST_MS)
      const stopped = await call<object | undefined>('POST', `/sessions/${sessionId}/stop`, {
        body: { run_id: runId },
        signal,
      })
      if (!isStill()) return
      // Where that run is over already, no end of it will come.
      drop(sessionId)
      if (stopped) stops.set(sessionId, { runId, state: 'sent' })
      onSettled(sessionId)
    } catch (error) {
      if (!isStill()) return
      if (isForLater(error)) {
        stops.set(sessionId, { runId, state: 'waiting' })
        retryLater()
      } else {
        drop(sessionId)
        onRefused(sessionId, error)
      }
    }
  }
  function retry(): void {
    clearTimeout(timer)
    for (const sessionId of stops.keys()) if (mayRetry(sessionId)) void send(sessionId)
  }
  function retryLater(): void {
    clearTimeout(timer)
    timer = window.setTimeout(retry, LATER_MS)
  }

  return {
    of,
    retry,
    /** Sent now, and again until the server has it. */
    ask: async (sessionId: string, runId: string): Promise<void> => {
      const before = of(sessionId)
      if (before?.runId === runId && before.state !== 'waiting') return
      stops.set(sessionId, { runId, state: 'waiting' })
      remember(key(sessionId), runId)
      await send(sessionId)
    },
    /** Goes on with what a former page left here, unless its run is not the one at work any more. */
    open: (sessionId: string, activeRunId: string | null): void => {
      const runId = of(sessionId)?.runId ?? recall(key(sessionId))
      if (runId === null) return
      if (runId !== activeRunId) return drop(sessionId)
      if (!of(sessionId)) stops.set(sessionId, { runId, state: 'waiting' })
      void send(sessionId)
    },
    /** That run has ended. */
    end: (sessionId: string, runId: string): void => {
      if (of(sessionId)?.runId !== runId) return
      drop(sessionId)
      onSettled(sessionId)
    },
    /** The conversation is no longer shown: a stop that waits goes all the same. */
    leave: (sessionId: string): void => {
      const stop = of(sessionId)
      if (stop?.state === 'sent') stops.delete(sessionId)
      else if (stop) retryLater()
    },
    /** This account is done here: nothing more of it is sent. */
    forget: (): void => {
      clearTimeout(timer)
      stops.clear()
    },
  }
}
