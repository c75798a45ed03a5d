import { inject, provide, watch, type InjectionKey } from 'vue'
import type { Item } from './transcript'

/** What is looked for in the conversation is in this one, which is the one that is shown. */
type IsHit = (item: Item) => boolean

const KEY: InjectionKey<IsHit> = Symbol('hits')

export function provideHits(isHit: IsHit): void {
  provide(KEY, isHit)
}

/** Opens what is folded once that which is looked for is in it. */
export function useOpenedByHit(item: () => Item, open: () => void): void {
  const isHit = inject(KEY, () => false)
  watch(
    () => isHit(item()),
    (is) => is && open(),
    { immediate: true },
  )
}
