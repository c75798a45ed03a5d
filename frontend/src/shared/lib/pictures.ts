import { inject, onMounted, provide, watch, type InjectionKey, type Ref } from 'vue'

/** A picture that lies beside a text: where, and an address of its bytes in this page. */
export interface FoundPicture {
  readonly path: string
  readonly url: string
}
type FindPicture = (address: string) => Promise<FoundPicture | null>
const key: InjectionKey<FindPicture> = Symbol('find picture')

/** Whoever shows a document of the workspace offers to find what lies beside it: nothing else of a text is fetched. */
export function offerPictures(find: FindPicture): void {
  provide(key, find)
}

/** Puts pictures where the text in `root` has links to them, as far as somebody offers to find them. */
export function usePictures(root: Readonly<Ref<HTMLElement | null>>, html: () => unknown): void {
  const find = inject(key, null)
  if (find === null) return
  async function set(link: HTMLElement): Promise<void> {
    const found = await find?.(link.dataset['picture'] ?? '')
    if (!found) return
    const picture = document.createElement('img')
    picture.src = found.url
    picture.alt = link.textContent
    link.dataset['path'] = found.path
    link.replaceChildren(picture)
  }
  function setAll(): void {
    for (const link of root.value?.querySelectorAll<HTMLElement>('a[data-picture][data-path]') ?? []) void set(link)
  }
  onMounted(setAll)
  watch(html, setAll, { flush: 'post' })
}
