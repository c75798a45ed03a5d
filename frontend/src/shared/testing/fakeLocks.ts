type Work = () => Promise<unknown>
interface Held {
  readonly lose: () => void
}

/** Exclusive locks as a browser has them, for what is tested as several pages in one. */
export function fakeLocks() {
  const held = new Map<string, Held>()
  const waiting: { readonly name: string; readonly begin: () => void }[] = []

  function run(name: string, work: Work): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const mine: Held = { lose: () => reject(new DOMException('stolen', 'AbortError')) }
      held.set(name, mine)
      void work().then((done) => {
        resolve(done)
        if (held.get(name) !== mine) return
        held.delete(name)
        const next = waiting.findIndex((one) => one.name === name)
        waiting.splice(next, next < 0 ? 0 : 1).forEach(({ begin }) => begin())
      })
    })
  }
  function request(name: string, { steal = false }: { steal?: boolean }, work: Work): Promise<unknown> {
    const before = held.get(name)
    if (!before) return run(name, work)
    if (!steal)
      return new Promise((resolve, reject) =>
        waiting.push({ name, begin: () => run(name, work).then(resolve, reject) }),
      )
    before.lose()
    return run(name, work)
  }
  return { request }
}

/** Channels between pages of a browser, each message told at once. */
export function fakeChannels() {
  const open = new Set<FakeChannel>()
  class FakeChannel {
    onmessage: ((event: { data: unknown }) => void) | null = null
    constructor(readonly name: string) {
      open.add(this)
    }
    postMessage(data: unknown): void {
      for (const one of open)
        if (one !== this && one.name === this.name) one.onmessage?.({ data: structuredClone(data) })
    }
    close(): void {
      open.delete(this)
    }
  }
  return FakeChannel
}
