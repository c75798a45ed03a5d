import { Ban, Check, CirclePause, CircleSlash, LoaderCircle, X } from '@lucide/vue'
import { computed } from 'vue'
import { awaitsComputer, type ToolCard } from './body/card'

const outcomes = {
  asking: { icon: CirclePause, tone: 'text-careful' },
  approved: { icon: CirclePause, tone: 'text-ink-3' },
  awaiting: { icon: LoaderCircle, tone: 'text-ink-3' },
  running: { icon: LoaderCircle, tone: 'text-working' },
  succeeded: { icon: Check, tone: 'text-good' },
  failed: { icon: X, tone: 'text-bad' },
  refused: { icon: Ban, tone: 'text-ink-3' },
  skipped: { icon: CircleSlash, tone: 'text-ink-3' },
  cut: { icon: CircleSlash, tone: 'text-ink-3' },
}

/** How far a call is: its word, its sign and its colour. */
export function useOutcome(card: () => ToolCard) {
  const state = computed(() => (awaitsComputer(card()) ? 'awaiting' : card().outcome))
  const outcome = computed(() => outcomes[state.value])
  /** What did not come to its end well, or did not begin yet, is said in a word, not by a sign alone. */
  const hasWord = computed(() =>
    ['asking', 'approved', 'awaiting', 'failed', 'refused', 'skipped', 'cut'].includes(state.value),
  )
  return { state, outcome, hasWord }
}
