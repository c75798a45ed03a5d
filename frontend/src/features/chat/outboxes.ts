import { shallowReactive } from 'vue'
import { ApiError } from '@/api/problems'
import {
  failedWith,
  isForLater,
  isWaiting,
  keepOutbox,
  LATER_MS,
  post,
  recallOutbox,
  takeUnownedOutbox,
  type Pending,
} from './outbox'

interface Surroundings {
  /** Whose messages these are, in the browser's storage. */
  account: () => string
  /** Whether what waits in a conversation may be tried again now. */
  mayRetry: (sessionId: string) => boolean
  /** Whether a stop has to go first. Once it went, `retry` is called. */
  isHeldUp: (sessionId: string) => boolean
  /** Called once the server has stored a message; true when nobody waits to hear it back. */
  onStored: (sessionId: string, seq: number) => boolean
}

/** What is on its way to each conversation: sent one after the other as it was written, whichever conversation is open. */
export function createOutboxes({ account, mayRetry, isHeldUp, onStored }: Surroundings) {
  const boxes = shallowReactive(new Map<string, readonly Pending[]>())
  /** Ids of messages that the server has, and that were not heard back yet. */
  const stored = new Set<string>()
  const senders = new Map<string, Promise<void>>()
  let timer = 0

  const of = (sessionId: string): readonly Pending[] => boxes.get(sessionId) ?? []
  const isDue = (entry: Pending): boolean =>
    isWaiting(entry) || (entry.state === 'sending' && !stored.has(entry.clientMessageId))

  function keep(sessionId: string, entries: readonly Pending[]): void {
    if (entries.length > 0) boxes.set(sessionId, entries)
    else boxes.delete(sessionId)
    keepOutbox({ account: account(), sessionId }, entries)
  }
  /** Takes up what a former page left here. */
  function load(sessionId: string): void {
    const kept = boxes.has(sessionId) ? [] : recallOutbox({ account: account(), sessionId })
    if (kept.length > 0) boxes.set(sessionId, kept)
  }
  function adoptUnowned(sessionId: string): void {
    const left = takeUnownedOutbox(sessionId)
    if (left.length > 0) keep(sessionId, [...left, ...of(sessionId)])
  }
  /** Changes what is still there, in place: what was discarded or forgotten meanwhile stays so. */
  function change(sessionId: string, isMeant: (entry: Pending) => boolean, to: (entry: Pending) => Pending): void {
    if (of(sessionId).some(isMeant))
      keep(
        sessionId,
        of(sessionId).map((entry) => (isMeant(entry) ? to(entry) : entry)),
      )
  }
  function settle(sessionId: string, clientMessageId: string): void {
    stored.delete(clientMessageId)
    const others = of(sessionId).filter((entry) => entry.clientMessageId !== clientMessageId)
    if (others.length < of(sessionId).length) keep(sessionId, others)
  }

  /** Resolves once nothing is left to send, or what is left has to wait. */
  function send(sessionId: string): Promise<void> {
    const running = senders.get(sessionId)
    if (running) return running
    if (!of(sessionId).some(isDue) || waitsBehind(sessionId)) return Promise.resolve()
    const sending = sendDue(sessionId)
    senders.set(sessionId, sending)
    return sending
  }
  async function sendDue(sessionId: string): Promise<void> {
    try {
      for (;;) {
        const entry = of(sessionId).find(isDue)
        if (!entry || waitsBehind(sessionId) || !(await sendOne(sessionId, entry))) return
      }
    } finally {
      senders.delete(sessionId)
    }
  }
  /** True where a stop has to go first: what is due waits for it. */
  function waitsBehind(sessionId: string): boolean {
    if (!isHeldUp(sessionId)) return false
    change(sessionId, isDue, (entry) => failedWith(entry, ApiError.unreachable()))
    return true
  }
  /** False where the server is away: this and what was written after it wait. */
  async function sendOne(sessionId: string, { clientMessageId }: Pending): Promise<boolean> {
    const isIt = (entry: Pending): boolean => entry.clientMessageId === clientMessageId
    change(sessionId, isIt, asSending)
    const entry = of(sessionId).find(isIt)
    if (!entry) return true
    try {
      const { seq } = await post(sessionId, entry)
      if (of(sessionId).some(isIt)) stored.add(clientMessageId)
      if (onStored(sessionId, seq)) settle(sessionId, clientMessageId)
      return true
    } catch (error) {
      const isLater = isForLater(error)
      change(sessionId, isLater ? isDue : isIt, (failed) => failedWith(failed, error))
      if (isLater) retryLater()
      return !isLater
    }
  }
  function retry(): void {
    clearTimeout(timer)
    for (const sessionId of boxes.keys()) if (mayRetry(sessionId)) void send(sessionId)
  }
  function retryLater(): void {
    clearTimeout(timer)
    timer = window.setTimeout(retry, LATER_MS)
  }

  return {
    of,
    send,
    retry,
    settle,
    load,
    adoptUnowned,
    /** A message that is there already keeps its place. */
    add: (sessionId: string, added: readonly Pending[]): Promise<void> => {
      load(sessionId)
      for (const entry of added.map(asSending)) {
        const others = of(sessionId)
        const at = others.findIndex(({ clientMessageId }) => clientMessageId === entry.clientMessageId)
        keep(sessionId, at < 0 ? [...others, entry] : others.with(at, entry))
      }
      return send(sessionId)
    },
    /** The conversation is no longer shown: what waits there goes all the same. */
    leave: (sessionId: string): void => {
      for (const { clientMessageId } of of(sessionId))
        if (stored.has(clientMessageId)) settle(sessionId, clientMessageId)
      if (of(sessionId).some(isDue)) retryLater()
    },
    /** This account is done here: nothing more of it is sent. */
    forget: (): void => {
      clearTimeout(timer)
      boxes.clear()
      stored.clear()
    },
  }
}

function asSending({ clientMessageId, text, attachments, interrupt, queued }: Pending): Pending {
  const asked = { ...(interrupt === undefined ? {} : { interrupt }), ...(queued ? { queued } : {}) }
  return { clientMessageId, text, attachments, ...asked, state: 'sending' }
}
