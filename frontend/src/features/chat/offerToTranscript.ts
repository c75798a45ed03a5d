import { provideOpenPorts } from '@/features/ports'
import { offerAttachedPapers } from '@/features/research'
import { useConversation } from './conversation'

/** What is shown of a conversation knows which it is, and which ports are open in it. */
export function offerToTranscript(sessionId: () => string | null): void {
  const conversation = useConversation()
  provideOpenPorts(() => conversation.transcript.ports)
  offerAttachedPapers(sessionId)
}
