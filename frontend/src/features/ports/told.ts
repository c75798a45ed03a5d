import { inject, provide, type InjectionKey } from 'vue'
import type { OpenPort } from '@/api/types'

const key: InjectionKey<() => readonly OpenPort[]> = Symbol('open ports')

/** Whoever shows a conversation tells which ports its events say are open. */
export function tellOpenPorts(ports: () => readonly OpenPort[]): void {
  provide(key, ports)
}

/** Those of the conversation around; nobody may know any. */
export function useToldPorts(): () => readonly OpenPort[] {
  return inject(key, () => () => [], true)
}
