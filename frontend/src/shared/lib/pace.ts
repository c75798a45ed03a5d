import { nextTick } from 'vue'

/** Of the time no more than one part in so many is spent on it. */
const SHARE = 5
const LONGEST_MS = 400

/**
 * Does `work`, and what the page makes of it, as often as there is time for: at once where that costs little, and the
 * seldomer the more the last time cost. What is asked for `now` waits for nothing.
 */
export function createPace(work: () => void, clock: () => number = () => performance.now()) {
  let timer = 0
  let due = 0

  function now(): void {
    stop()
    const began = clock()
    work()
    // Who asks anew has the page made of it by then.
    void nextTick(() => (due = clock() + Math.min((clock() - began) * (SHARE - 1), LONGEST_MS)))
  }
  function soon(): void {
    if (timer !== 0) return
    const left = due - clock()
    if (left <= 0) now()
    else timer = window.setTimeout(now, left)
  }
  function stop(): void {
    window.clearTimeout(timer)
    timer = 0
  }
  return { now, soon, stop }
}
