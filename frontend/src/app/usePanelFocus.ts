import { useTemplateRef, type Ref } from 'vue'
import { useFocusAfter } from '@/shared/lib/focusAfter'

/** The focus of a panel that is closed from within, or by its key, goes to what opens it again: `bar`, or on a phone `faces`. */
export function usePanelFocus(isShown: Readonly<Ref<boolean>>): void {
  const side = useTemplateRef<HTMLElement>('side')
  const bar = useTemplateRef<{ focusPanel: () => void }>('bar')
  const faces = useTemplateRef<{ $el: HTMLElement }>('faces')
  useFocusAfter(
    () => side.value,
    () => isShown.value,
    () => {
      faces.value?.$el.querySelector<HTMLElement>('[aria-selected=true]')?.focus()
      bar.value?.focusPanel()
    },
  )
}
