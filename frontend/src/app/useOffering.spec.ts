// @vitest-environment happy-dom
import { createPinia, setActivePinia } from 'pinia'
import { expect, it } from 'vitest'
import { useConversation } from '@/features/chat'
import { useOffering } from './useOffering'

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
