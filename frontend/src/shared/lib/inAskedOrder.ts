/**
 * Answers to several requests for the same, each shown unless what was asked for later is shown already: one that was
 * asked for before and comes in late knows less. What fails is thrown, and shows nothing.
 */
export function createInAskedOrder<T>(show: (answer: T) => void): (ask: () => Promise<T>) => Promise<void> {
  let asked = 0
  let shown = 0
  return async (ask) => {
    const mine = (asked += 1)
    const answer = await ask()
    if (mine < shown) return
    shown = mine
    show(answer)
  }
}
