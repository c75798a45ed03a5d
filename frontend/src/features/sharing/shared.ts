import { callRaw } from '@/api/client'
import { SseParser } from '@/api/sse'
import type { SharedConversation, SharedUnlocked } from '@/api/types'

/** An event as a link shows it. */
export interface SharedEvent {
  readonly seq: number
  readonly type: string
  readonly at: string
  readonly [field: string]: unknown
}
interface Page {
  readonly items: SharedEvent[]
  readonly last_seq: number
  readonly has_more: boolean
}

/** What a stranger reads by a link: its token goes along as a header, and stands in no address that is sent. */
export function createShared(id: string, token: string) {
  let access = ''
  const path = `/shared/${encodeURIComponent(id)}`
  const ask = (rest: string, query?: Record<string, number>, signal?: AbortSignal): Promise<Response> =>
    callRaw('GET', `${path}${rest}`, {
      ...{ open: true, headers: { 'X-Share-Token': token, 'X-Share-Access': access } },
      ...(query ? { query } : {}),
      ...(signal ? { signal } : {}),
    })

  async function unlock(passphrase: string): Promise<void> {
    const headers = { 'X-Share-Token': token }
    const answer = await callRaw('POST', `${path}/unlock`, { open: true, headers, body: { passphrase } })
    access = ((await answer.json()) as SharedUnlocked).access
  }
  async function info(): Promise<SharedConversation> {
    return (await (await ask('')).json()) as SharedConversation
  }
  /** All events that are there; `told` is called after each page. */
  async function readAll(told: (events: SharedEvent[]) => void, signal: AbortSignal): Promise<number> {
    for (let after = 0; ;) {
      const page = (await (await ask('/events', { after, limit: 500 }, signal)).json()) as Page
      told(page.items)
      if (!page.has_more) return page.last_seq
      after = page.last_seq
    }
  }
  /** What comes after a number, until the stream ends. */
  async function follow(after: number, told: (event: SharedEvent) => void, signal: AbortSignal): Promise<void> {
    const answer = await ask('/stream', { after }, signal)
    if (!answer.body) return
    const parser = new SseParser()
    const reader = answer.body.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      for (const message of parser.push(value)) told(JSON.parse(message.data) as SharedEvent)
    }
  }
  const body = async (seq: number): Promise<Blob> => await (await ask(`/events/${seq}/body`)).blob()
  const files = async (): Promise<Blob> => await (await ask('/files')).blob()
  return { unlock, info, readAll, follow, body, files }
}
export type Shared = ReturnType<typeof createShared>
