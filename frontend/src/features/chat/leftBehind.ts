import { failedWith, isWaiting, keepOutbox, LATER_MS, post, recallOutbox, type Pending } from './outbox'

/** Messages that wait in conversations which were left: they go too when the network is back, as they were told to. */
export function createLeftBehind(shown: () => string | null) {
  const left = new Set<string>()
  let timer = 0
  let isSending = false

  /** Null once it was sent. */
  async function sent(id: string, entry: Pending): Promise<Pending | null> {
    try {
      await post(id, entry)
      return null
    } catch (error) {
      return failedWith(entry, error)
    }
  }
  async function sendOf(id: string): Promise<void> {
    for (const entry of recallOutbox(id)) {
      if (entry.state !== 'sending' && !isWaiting(entry)) continue
      const after = await sent(id, entry)
      // Who opened it meanwhile, or logged out, has it in other hands.
      if (id === shown() || !left.has(id)) return
      const others = recallOutbox(id).filter((one) => one.clientMessageId !== entry.clientMessageId)
      keepOutbox(id, after ? [...others, after] : others)
      if (after && isWaiting(after)) return
    }
    left.delete(id)
  }
  async function send(): Promise<void> {
    clearTimeout(timer)
    if (isSending) return
    isSending = true
    for (const id of [...left]) if (id !== shown()) await sendOf(id)
    isSending = false
    if (left.size > 0) timer = window.setTimeout(() => void send(), LATER_MS)
  }
  return {
    send,
    add: (id: string) => {
      left.add(id)
      clearTimeout(timer)
      timer = window.setTimeout(() => void send(), LATER_MS)
    },
    drop: (id: string) => void left.delete(id),
    forget: () => {
      clearTimeout(timer)
      left.clear()
    },
  }
}
