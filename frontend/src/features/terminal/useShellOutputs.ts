import { onScopeDispose, reactive, watch } from 'vue'
import { readBody, type ToolCard } from '@/features/tools'

/** Commands of which the whole output is fetched. */
const MOST_FETCHED = 20
/** Of one command: what is longer is cut at its beginning, as a terminal forgets. */
const MOST_CHARACTERS = 2_000_000

/** The whole output of each command, fetched by reference where the card has a part of it; empty until it has come. */
export function useShellOutputs(sessionId: () => string, cards: () => readonly ToolCard[]) {
  const outputs = reactive(new Map<number, string>())
  const asked = new Set<number>()
  const abort = new AbortController()

  async function fetchOutput(seq: number): Promise<void> {
    try {
      const text = await (await readBody(sessionId(), seq, abort.signal)).text()
      outputs.set(seq, text.slice(-MOST_CHARACTERS))
    } catch {
      // The part that is there stays; a change of the list asks again.
      asked.delete(seq)
    }
  }
  watch(
    cards,
    (now) => {
      const wanted = now.filter(({ body, preview }) => body && body.size > preview.length).slice(-MOST_FETCHED)
      for (const { body } of wanted) {
        if (!body || asked.has(body.seq)) continue
        asked.add(body.seq)
        void fetchOutput(body.seq)
      }
    },
    { immediate: true },
  )
  onScopeDispose(() => abort.abort())
  return (card: ToolCard): string => (card.body && outputs.get(card.body.seq)) || card.output || card.preview
}
