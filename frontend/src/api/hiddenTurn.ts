/**
 * Of all hidden pages one has the turn of this name at a time: asks for it, calls `waits` if another page has it, and
 * `has` when it is ours. Returns how it is given up.
 *
 * Without TLS, but on this machine itself, browsers have no locks: there it is never ours.
 */
export function takeTurn(name: string, waits: () => void, has: () => void): () => void {
  const locks = navigator.locks as LockManager | null | undefined
  const given = new AbortController()
  const { signal } = given
  const up = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  const hold = (): Promise<void> => {
    if (!signal.aborted) has()
    return up
  }
  async function ask(): Promise<void> {
    const isOurs = await locks?.request(name, { ifAvailable: true }, async (lock) => {
      if (lock) await hold()
      return lock !== null
    })
    if (isOurs === true || signal.aborted) return
    waits()
    await locks?.request(name, { signal }, hold)
  }
  ask().catch(() => undefined) // given up while it waited
  return () => given.abort()
}
