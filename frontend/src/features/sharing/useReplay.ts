import { computed, onScopeDispose, ref, watch, type Ref } from 'vue'
import type { SharedItem } from './sharedItems'

export const SPEEDS = [1, 4, 16] as const
/** A pause of the conversation is waited for no longer, as fast as it was. */
const LONGEST_MS = 4_000
const SHORTEST_MS = 60

/** Shows the items one after the other, at the pace they came in; all of them where nothing is replayed. */
export function useReplay(items: Readonly<Ref<readonly SharedItem[]>>) {
  /** How many are seen; null: all. */
  const count = ref<number | null>(null)
  const isPlaying = ref(false)
  const speed = ref<number>(SPEEDS[1])
  const place = computed({
    get: () => count.value ?? items.value.length,
    set: (to) => (count.value = to),
  })
  const shown = computed(() => items.value.slice(0, place.value))
  let timer: ReturnType<typeof setTimeout> | undefined

  function wait(): void {
    clearTimeout(timer)
    if (!isPlaying.value) return
    const next = items.value[place.value]
    if (!next) return end()
    const before = items.value[place.value - 1]?.at ?? next.at
    const pause = Math.min(Math.max(next.at - before, 0), LONGEST_MS) / speed.value
    timer = setTimeout(
      () => {
        count.value = place.value + 1
        wait()
      },
      Math.max(pause, SHORTEST_MS),
    )
  }
  /** From the beginning where all is seen already. */
  function play(): void {
    if (place.value >= items.value.length) count.value = 0
    isPlaying.value = true
    wait()
  }
  function pause(): void {
    isPlaying.value = false
    clearTimeout(timer)
  }
  /** The result: all there is, and what comes. */
  function end(): void {
    pause()
    count.value = null
  }
  watch(speed, wait)
  onScopeDispose(() => clearTimeout(timer))
  return { shown, place, isPlaying, speed, play, pause, end }
}
