import { useConversation } from './conversation'
import type { Row } from './fold'
import { isForLater } from './outbox'

/**
 * The agent goes on from where its run ended; where it can't, it is asked once more. It is not where no answer came, or
 * where nothing is known of what goes on: the run may be at work again by then.
 */
export function useRetry(onFailed: (error: unknown) => void): (end: Row) => Promise<void> {
  const conversation = useConversation()
  let isRetrying = false

  function askAgain(): void {
    const asked = conversation.transcript.items.findLast((item) => item.kind === 'user')
    if (asked?.kind === 'user') void conversation.send(asked.text, asked.attachments)
  }
  return async (end) => {
    if (end.kind !== 'end' || isRetrying) return
    isRetrying = true
    try {
      await conversation.resume(end.runId)
    } catch (error) {
      if (isForLater(error) || conversation.streamState !== 'open') onFailed(error)
      else if (!conversation.isRunning) askAgain()
    } finally {
      isRetrying = false
    }
  }
}
