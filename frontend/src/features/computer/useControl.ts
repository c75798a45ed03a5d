import { computed, onScopeDispose, ref, shallowRef, watch } from 'vue'
import { useEventListener } from '@vueuse/core'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { ControlLease } from '@/api/types'
import { createId } from '@/shared/lib/ids'

/** Well below what the server waits for. */
export const RENEW_MS = 2_000

/** Who controls the computer: the window or program, and its name in words. */
export interface Driver {
  readonly client: string
  readonly holder: string
}

/**
 * Control of the computer, which one window has at a time: a lease on the server that is renewed while this one has it.
 * `told` is what the stream says of it; `onLost` is called where another window took it over, or the lease expired.
 */
export function useControl(
  sessionId: () => string,
  told: () => Driver | null | undefined,
  isReady: () => boolean,
  onLost: () => void,
) {
  const client = createId()
  const driver = shallowRef<Driver | null>(null)
  const isTaking = ref(false)
  const problem = shallowRef<unknown>(null)
  const isMine = computed(() => driver.value?.client === client)
  const isElsewhere = computed(() => driver.value !== null && !isMine.value)
  let renewing = 0
  let number = 0
  /** The session it was taken in. */
  let takenIn = ''

  const path = (id = sessionId()): string => `/sessions/${id}/control`
  function settle(now: Driver | null): void {
    const wasMine = isMine.value
    number += 1
    driver.value = now
    clearInterval(renewing)
    if (isMine.value) renewing = window.setInterval(() => void renew(), RENEW_MS)
    else if (wasMine) onLost()
  }
  async function look(): Promise<void> {
    const mine = number
    const id = sessionId()
    const found = await call<ControlLease | null>('GET', path()).catch(() => undefined)
    if (found !== undefined && mine === number && id === sessionId()) settle(found)
  }
  async function renew(): Promise<void> {
    const mine = number
    try {
      await call<ControlLease>('PUT', path(takenIn), { body: { client } })
    } catch (error) {
      // A network that is away may come back before the lease is over; the server knows.
      const isOver = error instanceof ApiError && (error.status === 409 || error.status === 404)
      if (isOver && mine === number) {
        settle(null)
        void look()
      }
    }
  }
  /** Whether this window has it now. */
  async function take(): Promise<boolean> {
    const id = sessionId()
    isTaking.value = true
    problem.value = null
    try {
      const lease = await call<ControlLease>('POST', path(), { body: { client, take_over: isElsewhere.value } })
      if (id !== sessionId()) return false
      takenIn = id
      settle(lease)
      return true
    } catch (error) {
      problem.value = error
      void look()
      return false
    } finally {
      isTaking.value = false
    }
  }
  /** The note is what the model reads next. */
  async function handBack(note = ''): Promise<void> {
    clearInterval(renewing)
    number += 1
    driver.value = null
    try {
      await call('DELETE', path(takenIn), { body: { client, note: note || null }, keepalive: true })
    } catch (error) {
      problem.value = error
    }
  }
  function leave(): void {
    if (isMine.value) void handBack()
  }
  watch(
    [sessionId, isReady],
    ([id, ready], before) => {
      if (before[0] !== undefined && before[0] !== id) {
        leave()
        driver.value = null
      }
      if (ready) void look()
    },
    { immediate: true, flush: 'sync' },
  )
  watch(told, (now) => now !== undefined && now?.client !== driver.value?.client && settle(now))
  useEventListener(window, 'pagehide', leave)
  onScopeDispose(leave)
  return { client, driver, isElsewhere, isTaking, problem, take, handBack }
}
