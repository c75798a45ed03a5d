import { nextTick, ref, type Ref } from 'vue'
import { leaveForms } from '@/shared/lib/unsaved'

/** In place of an id: the form is that of a new one. */
export const NEW = ''

/** The page's elements, once it is there. */
interface Shown {
  readonly root: () => HTMLElement | null
  readonly heading: () => HTMLElement | null
}

/** What a page with a list shows beside it: which item is in its form, and what was done last. */
export function useListPage(problem: Ref<string>) {
  /** The id of the one that is edited, or `NEW`; null: none. */
  const edited = ref<string | null>(null)
  const said = ref('')
  let page: Shown | null = null
  /** Where the focus is looked after. */
  function showIn(shown: Shown): void {
    page = shown
  }

  function edit(id: string): void {
    leaveForms(() => {
      edited.value = id
      said.value = problem.value = ''
    })
  }
  /** The focus goes back to where the form was opened from. */
  async function close(): Promise<void> {
    const from = edited.value
    edited.value = null
    problem.value = ''
    await nextTick()
    const selector = from === NEW || from === null ? '[data-add]' : `[data-edit="${from}"]`
    page?.root()?.querySelector<HTMLElement>(selector)?.focus()
  }
  /** What the form asked for is done, and said. */
  async function saved(done: Promise<boolean>, words: string): Promise<void> {
    if (!(await done)) return
    await close()
    said.value = words
  }
  /** What a row asked for is done, and said once it is known how it went. */
  async function changed(done: Promise<boolean>, words: () => string): Promise<void> {
    said.value = ''
    if (await done) said.value = words()
  }
  async function removed(done: Promise<boolean>, words: string): Promise<void> {
    said.value = ''
    if (!(await done)) return
    said.value = words
    // The button that had the focus is gone.
    page?.heading()?.focus()
  }
  return { edited, said, showIn, edit, close, saved, changed, removed }
}
