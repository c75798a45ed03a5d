import { inject, provide, shallowRef, type InjectionKey, type ShallowRef } from 'vue'

/** `path` is where it lies in the workspace, if it does. */
export interface Shown {
  readonly url: string
  readonly name: string
  readonly path: string | null
}
export interface Lightbox {
  readonly shown: ShallowRef<{ readonly pictures: readonly Shown[]; readonly at: number } | null>
  readonly close: () => void
  readonly show: (pictures: readonly Shown[], at: number) => void
}
const key: InjectionKey<Lightbox> = Symbol('lightbox')

/** Whoever holds the dialog offers to show pictures large; others ask without knowing it. */
export function offerLightbox(): Lightbox {
  const shown: Lightbox['shown'] = shallowRef(null)
  const lightbox: Lightbox = {
    shown,
    close: () => (shown.value = null),
    show: (pictures, at) => (shown.value = { pictures, at }),
  }
  provide(key, lightbox)
  return lightbox
}

export function useLightbox(): Lightbox | null {
  return inject(key, null)
}
