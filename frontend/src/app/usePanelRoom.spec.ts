// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { effectScope, nextTick, ref } from 'vue'
import type { SandboxState } from '@/api/types'
import { useConversation } from '@/features/chat'
import { usePanel } from '@/features/computer'
import { json, openFakeStream, startFakeServer } from '@/shared/testing/fakeServer'
import { usePanelRoom } from './usePanelRoom'

let scope = effectScope()
beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
  scope = effectScope()
})
afterEach(() => {
  useConversation().close(true)
  scope.stop()
  vi.unstubAllGlobals()
})

const sandbox = (status: SandboxState['status'], seq: number) => ({ status, seq, reason: null }) as SandboxState
/** Two conversations: the computer of `s` starts, `other` has none. */
async function opened() {
  const server = (id: string, status: SandboxState['status']) => ({
    [`GET /sessions/${id}/state`]: () =>
      json({ session: { id, last_seq: 0 }, sandbox: sandbox(status, 0), last_seq: 0 }),
    [`GET /sessions/${id}/events`]: ({ path, signal }: { path: string; signal: AbortSignal | null }) =>
      path.includes('format=json')
        ? json({ items: [], last_seq: 0, has_more: false })
        : openFakeStream(signal).response,
  })
  startFakeServer({ ...server('s', 'starting'), ...server('other', 'none') })
  const id = ref('s')
  const room = scope.run(() => usePanelRoom(() => id.value))
  if (!room) throw new Error('the scope is over')
  const show = async (next: string): Promise<void> => {
    id.value = next
    await nextTick()
    await useConversation().open(next)
    await nextTick()
  }
  await show('s')
  usePanel().setOpen(true)
  await nextTick()
  return { ...room, show }
}

it('is kept by a panel that is seen, also when the computer does not come after all', async () => {
  const { isPanelOpen, hasComputer } = await opened()
  expect(isPanelOpen.value).toBe(true)
  useConversation().takeComputer(sandbox('none', 1))
  await vi.waitFor(() => expect(hasComputer.value).toBe(false))
  expect(isPanelOpen.value).toBe(true)
  usePanel().setOpen(false)
  expect(isPanelOpen.value).toBe(false)
})

it('is not taken in a conversation without a computer by a panel that was seen in another', async () => {
  const { isPanelOpen, show } = await opened()
  await show('other')
  expect(isPanelOpen.value).toBe(false)
})
