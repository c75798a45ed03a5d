import { ref, shallowReactive } from 'vue'
import { call, callRaw } from '@/api/client'
import type { CorpusAdded, CorpusMatch } from '@/api/types'

/** Whose paper each attached PDF is, as far as that was found, for as long as the page is open. */
const found = shallowReactive(new Map<string, CorpusMatch>())
/** Grows with each paper that was linked to a conversation by a file of it. */
export const linked = ref(0)
let turn: Promise<unknown> = Promise.resolve()
const keyOf = (sessionId: string, path: string): string => `${sessionId} ${path}`

export const matchOf = (sessionId: string | null, path: string): CorpusMatch | undefined =>
  sessionId === null ? undefined : found.get(keyOf(sessionId, path))

function keep(sessionId: string, path: string, match: CorpusMatch): void {
  if (!match.record && !match.offered) return
  found.set(keyOf(sessionId, path), match)
  if (match.record) linked.value += 1
}

async function ask(sessionId: string, path: string, file: File): Promise<void> {
  const form = new FormData()
  form.set('file', file)
  const answer = await callRaw('POST', '/corpus/match', { query: { session_id: sessionId }, form })
  keep(sessionId, path, (await answer.json()) as CorpusMatch)
}

/** One file after the other: each is read by the server, which asks its sources. */
export async function match(sessionId: string, path: string, file: File): Promise<void> {
  const mine = turn.then(() => ask(sessionId, path, file))
  turn = mine.catch(() => undefined)
  await mine
}

/** Keeps the paper that was offered for a file. */
export async function add(sessionId: string, path: string, id: string): Promise<void> {
  const { record } = await call<CorpusAdded>('POST', '/corpus', { body: { id, session_id: sessionId } })
  keep(sessionId, path, { record, offered: null })
}
