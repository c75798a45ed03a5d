import { useEventListener } from '@vueuse/core'
import { computed, nextTick, onScopeDispose, shallowRef, type ComputedRef } from 'vue'
import type { RouteLocationNormalized, Router } from 'vue-router'

interface Form {
  readonly root: () => HTMLElement | null
  readonly isChanged: () => boolean
  /** It stands in a page, and goes with it. */
  readonly isOfPage: boolean
  /** What had the focus last in it. */
  focused: EventTarget | null
}

/** The forms that are there. */
const forms = new Set<Form>()
/** What would end them, and waits for the answer to whether their changes may go. */
const waiting = shallowRef<{ readonly act: () => void; readonly stay: () => void } | null>(null)

/** Whether `values`, which are plain data, are others than they are now. */
export function changesOf(values: () => unknown): () => boolean {
  const before = JSON.stringify(values())
  return () => JSON.stringify(values()) !== before
}

/** What was changed in this form is not lost without a question, as long as whoever ends it does so by `leaveForms`. */
export function useUnsaved(root: () => HTMLElement | null, isChanged: () => boolean, isOfPage = false): void {
  const form: Form = { root, isChanged, isOfPage, focused: null }
  useEventListener(document, 'focusin', ({ target }) => {
    if (target instanceof Node && root()?.contains(target)) form.focused = target
  })
  forms.add(form)
  onScopeDispose(() => forms.delete(form))
}

/** The same for a form of a page, which also ends where the person goes elsewhere, goes back, or loads the page anew. */
export function useUnsavedPage(root: () => HTMLElement | null, isChanged: () => boolean): void {
  useUnsaved(root, isChanged, true)
  useEventListener(window, 'beforeunload', (event) => {
    if (isChanged()) event.preventDefault()
  })
}

/** Does what ends the forms: at once where nothing was changed, else once the person has said that it may go. */
export function leaveForms(act: () => void, stay: () => void = () => undefined): void {
  if (![...forms].some(({ isChanged }) => isChanged())) return act()
  waiting.value?.stay()
  waiting.value = { act, stay }
}

/**
 * Whether a form of the page that is left ends with it. A log-in, which comes when the session is over, waits for
 * nothing; and a conversation that begins gets its address while all that is shown stays.
 */
function endsForms(to: RouteLocationNormalized, from: RouteLocationNormalized): boolean {
  if (to.meta['open'] === true || from.path === '/') return false
  return to.path !== from.path || to.query['record'] !== from.query['record']
}

/** Another page is shown once what was changed in a form of the present one may go. Stands before guards that keep something. */
export function askBeforeLeaving(router: Router): void {
  let agreed = ''
  router.beforeEach((to, from) => {
    const isLost = [...forms].some(({ isOfPage, isChanged }) => isOfPage && isChanged())
    if (!isLost || !endsForms(to, from) || to.fullPath === agreed) return true
    return new Promise<boolean>((resolve) => {
      const go = (): void => {
        // A guard that sends on to the same place begins anew.
        agreed = to.fullPath
        resolve(true)
      }
      leaveForms(go, () => resolve(false))
    })
  })
  router.afterEach(() => void (agreed = ''))
}

/** The key that closes a form, unless it is meant for an input method. */
export function escapeForm(event: KeyboardEvent, act: () => void): void {
  event.stopPropagation()
  if (event.isComposing) return
  event.preventDefault()
  leaveForms(act)
}

/** The question that is asked: `isAsked`, and its two answers. */
export function useUnsavedQuestion(): { isAsked: ComputedRef<boolean>; discard: () => void; stay: () => void } {
  function discard(): void {
    const asked = waiting.value
    waiting.value = null
    asked?.act()
  }
  /** Writing goes on where it was; the focus may stand on what would end the form. */
  function stay(): void {
    waiting.value?.stay()
    waiting.value = null
    const field = [...forms].find(({ isChanged }) => isChanged())?.focused
    void nextTick(() => field instanceof HTMLElement && field.focus())
  }
  onScopeDispose(() => {
    waiting.value?.stay()
    waiting.value = null
  })
  return { isAsked: computed(() => waiting.value !== null), discard, stay }
}
