import { useEventListener } from '@vueuse/core'
import { onScopeDispose, ref, type Ref } from 'vue'

/** A drag tells that it goes on at least this often; one that ended out of sight tells nothing. */
const QUIET_MS = 900
const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false
/** A dialog stands alone: what is dropped beside it goes nowhere. */
const isCovered = (): boolean => document.querySelector('[role=dialog], [role=alertdialog]') !== null

/**
 * Files may be dropped anywhere on the page, but where something else takes them: beside such a place the browser would
 * leave the page for the file. True while files are held over it that would be taken here.
 */
export function useDropAnywhere(bring: (files: File[]) => void): Ref<boolean> {
  const isOver = ref(false)
  let timer = 0
  function leave(): void {
    clearTimeout(timer)
    isOver.value = false
  }
  useEventListener(window, 'dragover', (event) => {
    if (!hasFiles(event)) return
    // Somebody else's place: it shows so itself.
    const isTaken = event.defaultPrevented
    event.preventDefault()
    if (!isTaken && isCovered() && event.dataTransfer) event.dataTransfer.dropEffect = 'none'
    isOver.value = !isTaken && !isCovered()
    clearTimeout(timer)
    timer = window.setTimeout(leave, QUIET_MS)
  })
  useEventListener(window, 'dragleave', (event) => {
    if (event.relatedTarget === null) leave()
  })
  // Also of a drop that goes no further than to who takes it.
  useEventListener(window, 'drop', leave, { capture: true })
  useEventListener(window, 'drop', (event) => {
    if (event.defaultPrevented || !hasFiles(event)) return
    event.preventDefault()
    const files = [...(event.dataTransfer?.files ?? [])]
    if (files.length > 0 && !isCovered()) bring(files)
  })
  onScopeDispose(leave)
  return isOver
}
