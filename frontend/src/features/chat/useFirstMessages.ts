import { useEventListener } from '@vueuse/core'
import { onScopeDispose, shallowRef, watch } from 'vue'
import { createId } from '@/shared/lib/ids'
import { keepDraft, recallDraft } from './drafts'
import { isForLater, keepOutbox, LATER_MS, recallOutbox, takeUnownedOutbox, type Box, type Pending } from './outbox'

/**
 * Messages to a conversation that could not begin, as the server was away: they wait while the start page is looked at,
 * and are a draft again once it is left. `begin` begins the conversation, to which `send` sends them.
 */
export function useFirstMessages(
  writer: () => string | null,
  isAtStart: () => boolean,
  begin: () => Promise<string>,
  send: (sessionId: string, waiting: readonly Pending[]) => void,
  onRefused: (error: unknown, draft: string) => void,
) {
  const waiting = shallowRef<readonly Pending[]>([])
  let timer = 0
  let isBeginning = false
  let isOver = false
  const box = (): Box => ({ account: writer() ?? '', sessionId: null })

  function keep(next: readonly Pending[]): void {
    waiting.value = next
    keepOutbox(box(), next)
    clearTimeout(timer)
    if (next.length > 0 && !isOver) timer = window.setTimeout(() => void again(), LATER_MS)
  }
  const add = (text: string): void => keep([...waiting.value, heldBack(text)])
  /** What the server refuses is not to be sent again: it is a draft, and the caller hears why. */
  async function again(): Promise<void> {
    if (isBeginning || waiting.value.length === 0) return
    isBeginning = true
    try {
      const sessionId = await begin()
      if (isOver) return
      // Also what was written meanwhile.
      const entries = waiting.value
      keep([])
      send(sessionId, entries)
    } catch (error) {
      if (isOver) return
      if (!isForLater(error)) onRefused(error, giveBack())
      else if (isAtStart()) keep(waiting.value)
      else giveBack()
    } finally {
      isBeginning = false
    }
  }
  function giveBack(): string {
    const texts = [...waiting.value.map((entry) => entry.text), recallDraft(writer(), null)]
    keep([])
    const draft = texts.filter(Boolean).join('\n\n')
    keepDraft(writer(), null, draft)
    return draft
  }

  /** While a conversation begins with it: a page that is left before is given it back. Called once it is kept elsewhere. */
  function hold(text: string): () => void {
    const where = box()
    keepOutbox(where, [...waiting.value, heldBack(text)])
    return () => keepOutbox(where, waiting.value)
  }

  waiting.value = [...takeUnownedOutbox(`new:${writer() ?? ''}`), ...recallOutbox(box())]
  if (waiting.value.length > 0) giveBack()
  useEventListener(window, 'online', () => void again())
  watch(isAtStart, (is) => !is && !isBeginning && waiting.value.length > 0 && giveBack(), { flush: 'sync' })
  onScopeDispose(() => {
    isOver = true
    clearTimeout(timer)
  })
  return {
    waiting,
    add,
    hold,
    again,
    discard: (id: string) => keep(waiting.value.filter((entry) => entry.clientMessageId !== id)),
  }
}

function heldBack(text: string): Pending {
  return { clientMessageId: createId(), text, attachments: [], state: 'failed', problem: 'unreachable' }
}
