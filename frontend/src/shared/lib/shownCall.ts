import { inject, provide, type InjectionKey, type Ref } from 'vue'

/** The call that the panel of the computer shows as it was, by its key, and how another one is shown there. */
interface ShownCall {
  readonly key: Readonly<Ref<string | null>>
  readonly show: (key: string) => void
}
const shownCall: InjectionKey<ShownCall> = Symbol('shown call')

/** Whoever holds the panel offers it; cards of calls ask without knowing the panel. */
export function offerShownCall(offered: ShownCall): void {
  provide(shownCall, offered)
}

export function useShownCall(): ShownCall | null {
  return inject(shownCall, null)
}
