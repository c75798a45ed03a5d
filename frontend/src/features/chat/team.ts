import type { TeamMessageEvent, TeammateUpdatedEvent } from '@/api/types'
import type { Item, TeamItem, ToolItem } from './transcript'

/** The main agent, as its team calls it. */
export const LEAD = 'lead'

/** A teammate begins, or is at something else: it stands in the call that began it. */
export function withTeammate(items: readonly Item[], event: TeammateUpdatedEvent): readonly Item[] {
  const { name, role, status, reason } = event
  return changed(
    items,
    (item) => item.callId === event.parent_call_id,
    (item) => ({
      ...item,
      agentId: event.agent_id ?? null,
      teammate: { name, role, status, reason, since: item.teammate?.since ?? event.at, at: event.at },
    }),
  )
}

/** A message stands where its readers are: in the conversation, or in the call that began one of them. */
export function withTeamMessage(items: readonly Item[], event: TeamMessageEvent & { seq: number }): readonly Item[] {
  const { sender, recipients, content, msg_type: msgType, approve } = event
  let next = items
  for (const name of recipients) {
    const item: TeamItem = { kind: 'team', key: `team:${event.seq}`, sender, recipients, content, msgType, approve }
    if (name === LEAD) next = [...next, item]
    else
      next = changed(
        next,
        ({ teammate }) => teammate?.name === name,
        (call) => ({ ...call, inner: [...call.inner, item] }),
      )
  }
  return next
}

/** The last such call, changed. */
function changed(
  items: readonly Item[],
  isIt: (item: ToolItem) => boolean,
  change: (item: ToolItem) => ToolItem,
): readonly Item[] {
  const index = items.findLastIndex((item) => item.kind === 'tool' && isIt(item))
  const item = items[index]
  return item?.kind === 'tool' ? items.with(index, change(item)) : items
}
