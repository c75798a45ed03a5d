import { useDocumentVisibility, useIntervalFn } from '@vueuse/core'
import { computed, ref, shallowRef, watch } from 'vue'
import { call } from '@/api/client'
import type { SandboxState } from '@/api/types'

export const LOOK_MS = 20_000
const MINUTE_MS = 60_000

/** Minutes until the computer ends, and whether using it helps; null while that is not near. */
export function endOf(sandbox: SandboxState | null, now: number): { minutes: number; canKeep: boolean } | null {
  if (!sandbox?.notice || !sandbox.ends_at || sandbox.status !== 'ready') return null
  const left = Date.parse(sandbox.ends_at) - now
  return { minutes: Math.max(1, Math.round(left / MINUTE_MS)), canKeep: sandbox.ends_at !== sandbox.expires_at }
}

/**
 * The computer beside what the stream tells of it: looked at while somebody looks at the panel (which neither starts
 * nor wakes it), started, and kept running.
 */
export function useComputer(sessionId: () => string, onLook: (sandbox: SandboxState, asked: number) => void) {
  const sandbox = shallowRef<SandboxState | null>(null)
  const problem = shallowRef<unknown>(null)
  const isStarting = ref(false)
  const isRenewing = ref(false)
  const now = ref(Date.now())
  const visibility = useDocumentVisibility()
  let asked = 0

  async function ask(method: 'GET' | 'POST', path: string): Promise<void> {
    const id = sessionId()
    const mine = (asked += 1)
    const told = await call<SandboxState>(method, `/sessions/${id}${path}`)
    if (id !== sessionId() || mine !== asked) return
    sandbox.value = told
    now.value = Date.now()
    problem.value = null
    onLook(told, mine)
  }
  async function look(): Promise<void> {
    if (visibility.value !== 'visible' || isStarting.value || isRenewing.value) return
    // A look that fails is the stream's to explain; the next one comes by itself.
    await ask('GET', '/sandbox').catch(() => undefined)
  }
  async function act(busy: typeof isStarting, path: string): Promise<void> {
    busy.value = true
    problem.value = null
    try {
      await ask('POST', path)
    } catch (error) {
      problem.value = error
    } finally {
      busy.value = false
    }
  }

  useIntervalFn(() => void look(), LOOK_MS)
  watch(
    [sessionId, visibility],
    ([id], [before]) => {
      if (id !== before) sandbox.value = null
      void look()
    },
    { immediate: true },
  )
  return {
    end: computed(() => endOf(sandbox.value, now.value)),
    problem,
    isStarting,
    isRenewing,
    start: () => act(isStarting, '/sandbox'),
    renew: () => act(isRenewing, '/sandbox/renew'),
  }
}
