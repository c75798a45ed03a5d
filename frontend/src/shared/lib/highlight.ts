import { colour, grammarOf, type CodeSpan } from './colouring'

export type { CodeSpan } from './colouring'

const LONGEST = 60_000
type Taken = (lines: CodeSpan[][] | null) => void

const waiting = new Map<number, Taken>()
let worker: Worker | null | undefined
let last = 0

/** In its own thread, so that the page goes on meanwhile; none where the browser has none. */
function theWorker(): Worker | null {
  if (worker !== undefined) return worker
  if (typeof Worker === 'undefined') return (worker = null)
  worker = new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' })
  worker.onmessage = ({ data }: MessageEvent<{ id: number; lines: CodeSpan[][] | null }>) => settle(data.id, data.lines)
  worker.onerror = () => {
    // It can't be had: code stays as it is.
    for (const id of [...waiting.keys()]) settle(id, null)
  }
  return worker
}
function settle(id: number, lines: CodeSpan[][] | null): void {
  waiting.get(id)?.(lines)
  waiting.delete(id)
}

/** Lines of coloured spans, or null for an unknown language and what is very long. */
export async function highlight(code: string, language: string): Promise<CodeSpan[][] | null> {
  const name = grammarOf(language)
  if (name === null || code.length > LONGEST) return null
  // What is seen first is painted first.
  await new Promise((resolve) => setTimeout(resolve))
  const thread = theWorker()
  if (thread === null) return await colour(code, name)
  const id = (last += 1)
  return await new Promise((resolve) => {
    waiting.set(id, resolve)
    thread.postMessage({ id, code, name })
  })
}
