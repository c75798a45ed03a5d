// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { effectScope, nextTick } from 'vue'
import { useConversation } from '@/features/chat'
import { startFakeServer } from '@/shared/testing/fakeServer'
import { useHasComputer } from './useHasComputer'

beforeEach(() => {
  localStorage.clear()
  startFakeServer({})
})
afterEach(() => vi.unstubAllGlobals())

async function opened(status: 'none' | 'ready') {
  setActivePinia(createPinia())
  const conversation = useConversation()
  const scope = effectScope()
  const has = scope.run(() => useHasComputer(() => 's'))!
  const whileOpening = has.value
  const { transcript } = conversation
  conversation.sessionId = 's'
  conversation.transcript = { ...transcript, computer: { ...transcript.computer, status } }
  conversation.phase = 'ready'
  await nextTick()
  const opened = has.value
  scope.stop()
  return [whileOpening, opened]
}

it('knows of a conversation that is still being opened what it was when it was last here', async () => {
  expect(await opened('ready')).toEqual([false, true])
  expect(await opened('none')).toEqual([true, false])
  expect(await opened('none')).toEqual([false, false])
})
