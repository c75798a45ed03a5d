import { useDocumentVisibility, useIntervalFn, useTimeoutFn } from '@vueuse/core'
import { computed, onScopeDispose, ref, shallowRef, watch } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { SandboxState } from '@/api/types'
import type { Computer } from './computer'

export const LOOK_MS = 20_000
export const SOON_MS = 1_500
export const AGAIN_MS = 1_000
/** A start that was wanted may be seen only after what is in its way is removed. */
export const MAY_COME_MS = 20_000
const MINUTE_MS = 60_000

/** Minutes until the computer ends, and whether using it helps; null while that is not near. */
export function endOf(
  { warning }: Pick<Computer, 'warning'>,
  now: number,
): { minutes: number; canKeep: boolean } | null {
  if (!warning) return null
  const left = Date.parse(warning.endsAt) - now
  return { minutes: Math.max(1, Math.round(left / MINUTE_MS)), canKeep: warning.endsAt !== warning.expiresAt }
}

/**
 * Asks for the computer beside what the stream tells of it: looked at while somebody looks at the panel (which neither
 * starts nor wakes it), started, and kept running. Answers go to `onAnswer`, where its one state is kept.
 */
export function useComputer(
  sessionId: () => string,
  computer: () => Computer,
  onAnswer: (sandbox: SandboxState) => void,
  isWaitedFor: () => boolean,
) {
  const problem = shallowRef<unknown>(null)
  const isStarting = ref(false)
  const isRenewing = ref(false)
  const now = ref(Date.now())
  const visibility = useDocumentVisibility()
  let asked = 0
  let isOver = false
  onScopeDispose(() => (isOver = true))

  async function ask(method: 'GET' | 'POST', path: string): Promise<void> {
    const id = sessionId()
    const mine = (asked += 1)
    const told = await call<SandboxState>(method, `/sessions/${id}${path}`)
    if (id !== sessionId() || mine !== asked) return
    now.value = Date.now()
    problem.value = null
    onAnswer(told)
  }
  async function look(): Promise<void> {
    if (visibility.value !== 'visible' || isStarting.value || isRenewing.value) return
    // A look that fails is the stream's to explain; the next one comes by itself.
    await ask('GET', '/sandbox').catch(() => undefined)
  }
  /** No request waits in line for long; who asks again in time keeps the place. */
  async function askWhileQueued(): Promise<void> {
    const id = sessionId()
    for (;;) {
      try {
        return await ask('POST', '/sandbox')
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'computer_queued') throw error
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      if (isOver || id !== sessionId()) return
    }
  }
  async function act(busy: typeof isStarting, request: () => Promise<void>): Promise<void> {
    busy.value = true
    problem.value = null
    try {
      await request()
    } catch (error) {
      problem.value = error
    } finally {
      busy.value = false
    }
  }

  useIntervalFn(() => void look(), LOOK_MS)
  watch([sessionId, visibility], () => void look(), { immediate: true })
  // The stream warns of an end in words; when it is and what helps is in the answer to a look.
  watch(
    () => computer().status === 'ready' && computer().reason !== null && computer().warning === null,
    (isWarned) => isWarned && void look(),
  )
  // The stream tells of a start only as long as a call waits for it: where that was cut it may go on, or have left the line.
  const unattended = useIntervalFn(() => void look(), SOON_MS, { immediate: false })
  const { isPending: mayCome, ...mayComeFor } = useTimeoutFn(() => undefined, MAY_COME_MS, { immediate: false })
  const isAwaited = computed(() => computer().status === 'starting' || computer().status === 'queued')
  watch(
    [sessionId, isAwaited],
    ([id, is], [before, was]) => {
      if (id !== before) mayComeFor.stop()
      else if (was && !is && computer().status === 'none') mayComeFor.start()
    },
    { flush: 'sync' },
  )
  watch(
    () => !isWaitedFor() && !isStarting.value && (isAwaited.value || (mayCome.value && computer().status === 'none')),
    (is) => {
      if (!is) return unattended.pause()
      void look()
      unattended.resume()
    },
    { immediate: true },
  )
  return {
    end: computed(() => endOf(computer(), now.value)),
    problem,
    isStarting,
    isRenewing,
    start: () => act(isStarting, askWhileQueued),
    renew: () => act(isRenewing, () => ask('POST', '/sandbox/renew')),
  }
}
