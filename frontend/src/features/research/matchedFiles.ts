import { ref, shallowReactive } from 'vue'
import { call, callRaw } from '@/api/client'
import type { CorpusAdded, CorpusAttached, CorpusMatch } from '@/api/types'
import { notePapers } from './attachedPapers'

/** Whose paper each attached PDF is, as far as that was found here, or is known to the server. */
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
  notePapers(sessionId)
  if (match.record) linked.value += 1
}

async function ask(sessionId: string, path: string, file: File): Promise<void> {
  const form = new FormData()
  form.set('file', file)
  const answer = await callRaw('POST', '/corpus/match', { query: { session_id: sessionId, path }, form })
  keep(sessionId, path, (await answer.json()) as CorpusMatch)
}

const known = new Map<string, Promise<void>>()
/** What the server knows of a conversation's files: asked once while the page is open, and again where that failed. */
export function recall(sessionId: string): Promise<void> {
  const asked = known.get(sessionId) ?? askFor(sessionId)
  known.set(sessionId, asked)
  return asked
}
async function askFor(sessionId: string): Promise<void> {
  try {
    const told = await call<CorpusAttached>('GET', '/corpus/attached', { query: { session_id: sessionId } })
    // What was found here meanwhile is newer.
    for (const { path, ...match } of told.items)
      if (!found.has(keyOf(sessionId, path))) found.set(keyOf(sessionId, path), match)
    if (told.linked + told.items.length > 0) notePapers(sessionId)
  } catch {
    known.delete(sessionId)
  }
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
