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
export type SharedItem =
  | (Base & { readonly kind: 'user'; readonly text: string; readonly files: readonly string[] })
  | (Base & { readonly kind: 'answer'; readonly text: string })
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
      return { ...base, kind: 'user', text: text(event['text']), files: list(event['attachments']).map(text) }
    case 'message.completed':
      return text(event['text']).trim() ? { ...base, kind: 'answer', text: text(event['text']) } : null
    case 'thinking.completed':
      return text(event['text']).trim() ? { ...base, kind: 'thinking', text: text(event['text']) } : null
    case 'question.asked': {
      const asked = list(event['questions']).map((one) => text(record(one)['text']))
      return { ...base, kind: 'answer', text: asked.join('\n\n') }
    }
    case 'question.answered': {
      const answers = Object.values(record(event['answers'])).map(text)
      return answers.length > 0 ? { ...base, kind: 'user', text: answers.join('\n'), files: [] } : null
    }
    case 'plan.proposed':
      return { ...base, kind: 'plan', text: text(event['plan']) }
    case 'plan.decided':
      return text(event['feedback']) ? { ...base, kind: 'user', text: text(event['feedback']), files: [] } : null
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

/** What is seen of the events, in their order; the result of a call stands with it. */
export function sharedItems(events: readonly SharedEvent[]): SharedItem[] {
  const items: SharedItem[] = []
  const calls = new Map<string, number>()
  for (const event of events) {
    if (event.type === 'tool.finished') {
      const place = calls.get(text(event['call_id']))
      const call = place === undefined ? undefined : items[place]
      if (place === undefined || call?.kind !== 'call') continue
      const body = event['body'] ? record(event['body']) : null
      const whole = body ? { seq: event.seq, mediaType: text(body['media_type']) } : null
      items[place] = { ...call, output: text(event['preview']), success: event['success'] === true, whole }
      continue
    }
    const item = itemOf(event)
    if (!item) continue
    if (item.kind === 'call') calls.set(text(event['call_id']), items.length)
    items.push(item)
  }
  return items
}
