import { computed, type Ref } from 'vue'
import { useBranches, type KnownFork } from './branches'
import { useConversation } from './conversation'
import type { Row } from './fold'

export interface RowActions {
  /** Nobody has answered it. */
  readonly isLast: boolean
  readonly fork: KnownFork | null
}

/** What may be done stands below each message of the person's, and below the last answer to it. */
export function useMessageActions(rows: Ref<readonly Row[]>) {
  const branches = useBranches()
  const conversation = useConversation()
  const users = computed(() => new Set(rows.value.flatMap((row) => (row.kind === 'user' ? [row.messageId] : []))))

  function asked(index: number): string | null {
    for (let at = index; at >= 0; at -= 1) {
      const row = rows.value[at]
      if (row?.kind === 'user') return row.messageId
    }
    return null
  }
  /** The answers of a turn part at its beginning: what is shown of them stands below the last one. */
  function forkOfAnswer(index: number): KnownFork | null {
    const question = asked(index)
    const fork = question === null ? undefined : branches.byAfter.get(question)
    const shown = fork?.children[fork.at]
    return fork && shown && !users.value.has(shown.message_id) ? fork : null
  }
  return (row: Row, index: number): RowActions | null => {
    if (row.kind === 'user') {
      const isLast = rows.value.slice(index + 1).every(({ kind }) => !['assistant', 'work', 'agents'].includes(kind))
      return { isLast, fork: branches.byChild.get(row.messageId) ?? null }
    }
    if (row.kind !== 'assistant' || !row.complete) return null
    for (let at = index + 1; at < rows.value.length; at += 1) {
      const { kind } = rows.value[at] as Row
      if (kind === 'user') return { isLast: false, fork: forkOfAnswer(index) }
      if (kind === 'assistant' || kind === 'work' || kind === 'agents') return null
    }
    return conversation.isRunning ? null : { isLast: false, fork: forkOfAnswer(index) }
  }
}
