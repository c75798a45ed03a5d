import { useConversation } from '@/features/chat'
import { offerAnswerPictures } from '@/features/files'

/** Answers of the conversation that is shown have the pictures of its workspace. */
export function useAnswerPictures(sessionId: () => string | null): void {
  const conversation = useConversation()
  offerAnswerPictures({
    sessionId: () => sessionId() ?? '',
    version: () => conversation.transcript.filesVersion,
    isReady: () => conversation.isHere && conversation.transcript.computer.status === 'ready',
    isRunning: () => conversation.isRunning,
  })
}
