import { useEventListener } from '@vueuse/core'
import { computed, nextTick, onScopeDispose, shallowRef, type ComputedRef } from 'vue'

interface Form {
  readonly root: () => HTMLElement | null
  readonly isChanged: () => boolean
  /** What had the focus last in it. */
  focused: EventTarget | null
}

/** The forms that are there. */
const forms = new Set<Form>()
/** What would end them, and waits for the answer to whether their changes may go. */
const waiting = shallowRef<(() => void) | null>(null)

/** Whether `values`, which are plain data, are others than they are now. */
export function changesOf(values: () => unknown): () => boolean {
  const before = JSON.stringify(values())
  return () => JSON.stringify(values()) !== before
}

/** What was changed in this form is not lost without a question, as long as whoever ends it does so by `leaveForms`. */
export function useUnsaved(root: () => HTMLElement | null, isChanged: () => boolean): void {
  const form: Form = { root, isChanged, focused: null }
  useEventListener(document, 'focusin', ({ target }) => {
    if (target instanceof Node && root()?.contains(target)) form.focused = target
  })
  forms.add(form)
  onScopeDispose(() => forms.delete(form))
}

/** Does what ends the forms: at once where nothing was changed, else once the person has said that it may go. */
export function leaveForms(act: () => void): void {
  if (![...forms].some(({ isChanged }) => isChanged())) return act()
  waiting.value = act
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
    const act = waiting.value
    waiting.value = null
    act?.()
  }
  /** Writing goes on where it was; the focus may stand on what would end the form. */
  function stay(): void {
    waiting.value = null
    const field = [...forms].find(({ isChanged }) => isChanged())?.focused
    void nextTick(() => field instanceof HTMLElement && field.focus())
  }
  onScopeDispose(() => (waiting.value = null))
  return { isAsked: computed(() => waiting.value !== null), discard, stay }
}
