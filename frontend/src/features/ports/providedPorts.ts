import { inject, provide, type InjectionKey } from 'vue'
import type { OpenPort } from '@/api/types'

const key: InjectionKey<() => readonly OpenPort[]> = Symbol('open ports')

/** For all that shows a conversation: which ports its events say are open. */
export function provideOpenPorts(ports: () => readonly OpenPort[]): void {
  provide(key, ports)
}

/** Those of the conversation around it; none where nobody provides any. */
export function useOpenPorts(): () => readonly OpenPort[] {
  return inject(key, () => () => [], true)
}
