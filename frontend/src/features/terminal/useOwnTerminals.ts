import { ref, shallowRef, watch } from 'vue'
import { call } from '@/api/client'
import type { TerminalList } from '@/api/types'

export const MOST_TERMINALS = 8
const MAIN = 'main'

/** The user's terminals of a conversation's computer: those that are open there, and those that were opened here. */
export function useOwnTerminals(sessionId: () => string, isReady: () => boolean) {
  const names = ref<string[]>([])
  const problem = shallowRef<unknown>(null)

  async function refresh(): Promise<void> {
    const asked = sessionId()
    try {
      const { items } = await call<TerminalList>('GET', `/sessions/${asked}/terminal`)
      if (asked !== sessionId()) return
      names.value = [...new Set([...items.map(({ name }) => name), ...names.value])]
    } catch {
      // They are found again when one is opened: the panel is of use without them.
    }
  }
  /** A terminal with the first name that is free. */
  function add(): string {
    const free = [MAIN, ...Array.from({ length: MOST_TERMINALS }, (_, at) => `terminal-${at + 2}`)]
    const name = free.find((one) => !names.value.includes(one)) ?? MAIN
    if (!names.value.includes(name)) names.value.push(name)
    return name
  }
  async function close(name: string): Promise<void> {
    names.value = names.value.filter((one) => one !== name)
    problem.value = null
    try {
      await call('DELETE', `/sessions/${sessionId()}/terminal/${name}`)
    } catch (error) {
      problem.value = error
      await refresh()
    }
  }
  watch(sessionId, () => (names.value = []))
  watch([sessionId, isReady], ([, ready]) => ready && void refresh(), { immediate: true })
  return { names, problem, add, close }
}
