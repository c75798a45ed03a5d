type Work = (lock: object | null) => Promise<unknown>

/** Exclusive locks as a browser has them, for what is tested as several pages in one. */
export function fakeLocks() {
  const held = new Set<string>()
  const waiting: { name: string; begin: () => void }[] = []

  async function run(name: string, work: Work): Promise<unknown> {
    held.add(name)
    try {
      return await work({ name })
    } finally {
      held.delete(name)
      const next = waiting.findIndex((one) => one.name === name)
      waiting.splice(next, next < 0 ? 0 : 1).forEach(({ begin }) => begin())
    }
  }
  function request(name: string, options: { ifAvailable?: boolean; signal?: AbortSignal }, work: Work) {
    if (!held.has(name)) return run(name, work)
    if (options.ifAvailable) return work(null)
    return new Promise((resolve, reject) => {
      const one = { name, begin: () => resolve(run(name, work)) }
      waiting.push(one)
      options.signal?.addEventListener('abort', () => {
        const at = waiting.indexOf(one)
        if (at < 0) return
        waiting.splice(at, 1)
        reject(new DOMException('given up', 'AbortError'))
      })
    })
  }
  return { request, held }
}
