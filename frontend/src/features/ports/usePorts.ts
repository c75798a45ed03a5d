import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import { call } from '@/api/client'
import { ApiError } from '@/api/problems'
import type { OpenPort, OpenPorts } from '@/api/types'

const isSwitchedOff = (error: unknown): boolean => error instanceof ApiError && error.code === 'ports_off'

/**
 * The open ports of a session's computer, read again whenever events `told` of a change. A deployment may have them
 * switched off. `problem` is of the reading, null where that went well.
 */
export function usePorts(sessionId: () => string, told: () => readonly OpenPort[]) {
  const list = shallowRef<readonly OpenPort[] | null>(null)
  const isOff = ref(false)
  const problem = shallowRef<unknown>(null)
  const ending = new AbortController()
  let asked = 0

  async function load(): Promise<void> {
    const id = sessionId()
    const mine = (asked += 1)
    const isOver = (): boolean => id !== sessionId() || mine !== asked || ending.signal.aborted
    try {
      const { ports } = await call<OpenPorts>('GET', `/sessions/${id}/ports`, { signal: ending.signal })
      if (isOver()) return
      list.value = ports
      problem.value = null
      isOff.value = false
    } catch (error) {
      if (isOver()) return
      isOff.value = isSwitchedOff(error)
      problem.value = error
    }
  }
  /** The port as it is open by now, which it may have been before. */
  async function add(port: number, label: string): Promise<OpenPort> {
    const body = label ? { port, label } : { port }
    try {
      const opened = await call<OpenPort>('POST', `/sessions/${sessionId()}/ports`, { body })
      await load()
      return opened
    } catch (error) {
      isOff.value = isSwitchedOff(error)
      throw error
    }
  }
  async function close(one: OpenPort): Promise<void> {
    try {
      await call('DELETE', `/sessions/${sessionId()}/ports/${one.id}`)
    } catch (error) {
      // It was closed elsewhere.
      if (!(error instanceof ApiError) || error.status !== 404) throw error
    }
    await load()
  }

  watch(sessionId, () => (list.value = null))
  watch([sessionId, told], () => void load(), { immediate: true })
  onScopeDispose(() => ending.abort())
  return { list, isOff, problem, load, add, close }
}
