// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { afterEach, expect, it, vi } from 'vitest'
import { ref } from 'vue'
import { useConversation } from '@/features/chat'
import { json, startFakeServer } from '@/shared/testing/fakeServer'
import { useOffering } from './useOffering'

afterEach(() => vi.unstubAllGlobals())
it('offers papers where a conversation that is opened has some, whoever linked them', async () => {
  setActivePinia(createPinia())
  startFakeServer({
    'GET /corpus/attached?session_id=linked': () => json({ linked: 2, items: [] }),
    'GET /corpus/attached?session_id=none': () => json({ linked: 0, items: [] }),
  })
  const open = ref('none')
  useConversation().phase = 'ready'
  const offering = useOffering(() => open.value)
  const hasPanel = () => offering.value.isWithPapers
  expect(hasPanel()).toBe(false)
  open.value = 'linked'
  await vi.waitFor(() => expect(hasPanel()).toBe(true))
  open.value = 'none'
  expect(hasPanel()).toBe(false)
})
it('offers papers and the draft where an agent of the conversation has kept or written something', () => {
  setActivePinia(createPinia())
  const conversation = useConversation()
  const offering = useOffering(() => null)
  expect(offering.value).toMatchObject({ keptPapers: 0, written: 0 })
  const call = (name: string, inner: object[] = []) => ({
    ...{ kind: 'tool', name, outcome: 'succeeded', agentId: inner.length > 0 ? 'a' : null, inner },
  })
  const items = [
    call('task', [call('corpus_add'), call('corpus_add'), call('section_write')]),
    call('corpus_tag'),
  ] as unknown as typeof conversation.transcript.items
  conversation.transcript = { ...conversation.transcript, items }
  expect(offering.value).toMatchObject({ keptPapers: 3, written: 1 })
})
