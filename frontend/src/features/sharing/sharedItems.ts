import type { SharedEvent } from './shared'

interface Base {
  readonly id: number
  /** Milliseconds. */
  readonly at: number
}
export interface SharedCall extends Base {
  readonly kind: 'call'
  readonly name: string
  readonly phrase: string
  readonly input: string
  readonly output: string | null
  readonly success: boolean
  /** The event that has all of the output, where that is longer; and what kind of thing it is. */
  readonly whole: { readonly seq: number; readonly mediaType: string } | null
}
interface SharedAnswer extends Base {
  readonly kind: 'answer'
  readonly text: string
  /** Something cut it; and whether that was what the person said then. */
  readonly partial: boolean
  readonly isCut: boolean
}
export type SharedItem =
  | (Base & {
      readonly kind: 'user'
      readonly text: string
      readonly files: readonly string[]
      readonly leftOut: number
    })
  | SharedAnswer
  | (Base & { readonly kind: 'thinking'; readonly text: string })
  | (Base & { readonly kind: 'plan'; readonly text: string })
  | (Base & { readonly kind: 'end'; readonly status: string })
  | SharedCall

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : [])
const record = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

function itemOf(event: SharedEvent): SharedItem | null {
  const base = { id: event.seq, at: Date.parse(event.at) }
  switch (event.type) {
    case 'message.user':
      return person(
        base,
        text(event['text']),
        list(event['attachments']).map(text),
        Number(event['files_left_out'] ?? 0),
      )
    case 'message.completed':
      return text(event['text']).trim() ? answer(base, text(event['text']), event['partial'] === true) : null
    case 'thinking.completed':
      return text(event['text']).trim() ? { ...base, kind: 'thinking', text: text(event['text']) } : null
    case 'question.asked': {
      const asked = list(event['questions']).map((one) => text(record(one)['text']))
      return answer(base, asked.join('\n\n'), false)
    }
    case 'question.answered': {
      const answers = Object.values(record(event['answers'])).map(text)
      return answers.length > 0 ? person(base, answers.join('\n')) : null
    }
    case 'plan.proposed':
      return { ...base, kind: 'plan', text: text(event['plan']) }
    case 'plan.decided':
      return text(event['feedback']) ? person(base, text(event['feedback'])) : null
    case 'run.finished':
      return event['status'] === 'completed' ? null : { ...base, kind: 'end', status: text(event['status']) }
    case 'tool.called': {
      const call = {
        name: text(event['name']),
        phrase: text(event['phrase']),
        output: null,
        success: true,
        whole: null,
      }
      return { ...base, kind: 'call', ...call, input: JSON.stringify(event['arguments'], null, 2) }
    }
    default:
      return null
  }
}

/** `leftOut` files that went along are not shared. */
const person = (base: Base, said: string, files: readonly string[] = [], leftOut = 0): SharedItem => ({
  ...{ ...base, kind: 'user', text: said },
  ...{ files, leftOut },
})
const answer = (base: Base, said: string, partial: boolean): SharedAnswer => ({
  ...{ ...base, kind: 'answer', text: said },
  ...{ partial, isCut: false },
})

const WORK = ['message.completed', 'thinking.completed', 'tool.called']

/**
 * What is seen of the events, in the order in which the conversation is shown to its owner, as `agent/shown_order.py` has it;
 * the result of a call stands with it.
 */
export function sharedItems(events: readonly SharedEvent[]): SharedItem[] {
  let items: SharedItem[] = []
  const results = new Map(events.map((event) => [event.type === 'tool.finished' ? text(event['call_id']) : '', event]))
  /** Messages that the agent may not have read yet. */
  let unread = new Set<number>()
  let hasWorked = false
  /** Taken back before the agent had read it. */
  const gone = new Set(events.flatMap((one) => (one.type === 'message.withdrawn' ? [one['message_id']] : [])))
  for (const event of events) {
    if (event.type === 'message.user' && gone.has(event['message_id'])) continue
    let isAbove = false
    if (event.type === 'message.user') unread.add(event.seq)
    else if (WORK.includes(event.type)) {
      const seen = Number(event['seen_seq'] ?? 0)
      unread = new Set([...unread].filter((seq) => seen > 0 && seq > seen))
      isAbove = hasWorked = true
    } else if (event.type === 'tool.finished') isAbove = hasWorked
    else if (event.type === 'run.finished') {
      // Of work that is left out the end says what it had read.
      const seen = Number(event['seen_seq'] ?? 0)
      if (seen > 0) unread = new Set([...unread].filter((seq) => seq > seen))
      hasWorked ||= seen > 0
      // A run that had done nothing is stopped below what it was to do.
      isAbove = hasWorked && event['status'] === 'stopped'
      hasWorked = false
    } else if (event.type === 'run.started') {
      unread = new Set()
      hasWorked = false
    }
    const item = itemOf(event)
    const shown = item?.kind === 'call' ? withResult(item, results.get(text(event['call_id']))) : item
    if (!isAbove || unread.size === 0) {
      if (shown) items.push(shown)
      continue
    }
    const waits = ({ id }: SharedItem): boolean => unread.has(id)
    items = [...items.filter((one) => !waits(one)), ...(shown ? [shown] : []), ...items.filter(waits)]
  }
  return items.map((item, at) =>
    item.kind === 'answer' && item.partial && items[at + 1]?.kind === 'user' ? { ...item, isCut: true } : item,
  )
}

function withResult(call: SharedCall, event: SharedEvent | undefined): SharedCall {
  if (!event) return call
  const body = event['body'] ? record(event['body']) : null
  const whole = body ? { seq: event.seq, mediaType: text(body['media_type']) } : null
  return { ...call, output: text(event['preview']), success: event['success'] === true, whole }
}
