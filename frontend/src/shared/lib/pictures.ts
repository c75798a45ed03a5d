import {
  inject,
  onBeforeUnmount,
  onMounted,
  provide,
  shallowRef,
  watch,
  type InjectionKey,
  type Ref,
  type ShallowRef,
} from 'vue'

/** A picture that lies in the workspace: where, and an address of its bytes in this page. */
export interface FoundPicture {
  readonly path: string
  readonly url: string
}
/** `missing` where there is no such file; null where it is not known, or none that is shown. */
export type Picture = FoundPicture | 'missing' | null
interface Pictures {
  readonly find: (address: string) => Promise<Picture>
  /** Changes when what was not there may be. */
  readonly version: () => unknown
}
const key: InjectionKey<Pictures> = Symbol('pictures')
/** How far below what is seen a picture is fetched. */
const NEAR = '800px'

/** Whoever knows the workspace offers to find pictures in it: nothing else of a text is fetched. */
export function offerPictures(find: Pictures['find'], version: Pictures['version']): void {
  provide(key, { find, version })
}

/** The picture that lies at this path of the workspace; null while there is none that can be shown. */
export function usePicture(path: () => string): Readonly<ShallowRef<FoundPicture | null>> {
  const shown = shallowRef<FoundPicture | null>(null)
  const pictures = inject(key, null)
  if (pictures === null) return shown
  watch(
    [path, pictures.version],
    async ([wanted]) => {
      const found = await pictures.find(wanted)
      if (wanted === path()) shown.value = found === 'missing' ? null : found
    },
    { immediate: true },
  )
  return shown
}

/**
 * Puts pictures where the text in `root` has links to them, as far as somebody offers to find them, once they are about
 * to be seen. Behind the link to one that is not there stand the words of `missing`.
 */
export function usePictures(
  root: Readonly<Ref<HTMLElement | null>>,
  html: () => unknown,
  missing: () => string,
  isOff: () => boolean,
): void {
  const pictures = inject(key, null)
  if (pictures === null) return
  const { find, version } = pictures
  const observer =
    typeof IntersectionObserver === 'undefined' ? null : new IntersectionObserver(onSeen, { rootMargin: NEAR })
  function onSeen(entries: readonly IntersectionObserverEntry[]): void {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue
      observer?.unobserve(target)
      void set(target as HTMLElement)
    }
  }
  async function set(link: HTMLElement): Promise<void> {
    const found = await find(link.dataset['picture'] ?? '')
    if (link.querySelector('img')) return
    tellMissing(link, found === 'missing' ? missing() : '')
    if (found === null || found === 'missing') return
    const words = link.textContent
    const picture = document.createElement('img')
    picture.onerror = () => link.replaceChildren(words)
    picture.src = found.url
    picture.alt = words
    link.dataset['path'] = found.path
    link.replaceChildren(picture)
  }
  function setAll(): void {
    if (isOff()) return
    observer?.disconnect()
    for (const link of root.value?.querySelectorAll<HTMLElement>('a[data-picture][data-path]') ?? []) {
      if (link.querySelector('img')) continue
      if (observer) observer.observe(link)
      else void set(link)
    }
  }
  onMounted(setAll)
  onBeforeUnmount(() => observer?.disconnect())
  watch([html, version], setAll, { flush: 'post' })
}

function tellMissing(link: HTMLElement, words: string): void {
  const after = link.nextElementSibling
  if (after?.classList.contains('missing')) after.remove()
  if (words === '') return
  const note = document.createElement('span')
  note.className = 'missing'
  note.textContent = ` (${words})`
  link.after(note)
}
