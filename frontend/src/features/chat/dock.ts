import { inject, provide, shallowRef, type InjectionKey, type Ref, type ShallowRef } from 'vue'

/** The place above the message box where one card stands while its own place is out of sight. */
export interface Dock {
  /** What scrolls; null until it is there. */
  readonly box: Readonly<Ref<HTMLElement | null>>
  readonly place: Readonly<Ref<HTMLElement | null>>
  /** The card that stands here: of several that wait, the first to leave the view. */
  readonly holder: ShallowRef<symbol | null>
}
const KEY: InjectionKey<Dock> = Symbol('dock')

export function provideDock(box: Dock['box'], place: Dock['place']): Dock {
  const dock = { box, place, holder: shallowRef<symbol | null>(null) }
  provide(KEY, dock)
  return dock
}

/** Null where there is none, as in a shared conversation. */
export const useDock = (): Dock | null => inject(KEY, null)
