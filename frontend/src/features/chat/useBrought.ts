import { ref, watch, type Ref } from 'vue'
import { countPoints } from '@/shared/lib/codepoints'

/** Characters that a message may have. */
const LONGEST = 100_000

export const isOverLimit = (words: string): boolean => words.length > LONGEST && countPoints(words) > LONGEST

interface Place {
  readonly field: Readonly<Ref<HTMLTextAreaElement | null>>
  readonly text: Ref<string>
  readonly takesFiles: () => boolean
  readonly sessionId: () => string | null
  readonly add: (files: Iterable<File>) => Promise<void>
}

/**
 * What is pasted, dropped or picked: files, and words, which are put into the box by the browser itself, but where they
 * are too many for a message. To lay those out would stop the page for minutes: they go along as a file.
 */
export function useBrought({ field, text, takesFiles, sessionId, add }: Place) {
  /** Files were brought, or too many words, where there is no place for files; or such words went along as one. */
  const notice = ref<'noFiles' | 'tooMuch' | 'pasted' | null>(null)
  const isOver = ref(false)
  watch([takesFiles, sessionId], () => (notice.value = null))
  watch(text, (now) => {
    if (now && notice.value !== 'noFiles') notice.value = null
  })

  function bring(files: Iterable<File>): void {
    notice.value = takesFiles() ? null : 'noFiles'
    if (takesFiles()) void add(files)
  }
  function attachWords(words: string): void {
    bring([new File([words], 'pasted-text.txt', { type: 'text/plain' })])
    notice.value = takesFiles() ? 'pasted' : 'tooMuch'
  }
  function isTooMuch(words: string): boolean {
    const { selectionStart: start, selectionEnd: end } = field.value ?? { selectionStart: 0, selectionEnd: 0 }
    if (text.value.length - (end - start) + words.length <= LONGEST) return false
    return isOverLimit(text.value.slice(0, start) + words + text.value.slice(end))
  }
  function take(event: Event, data: DataTransfer | null): void {
    const words = data?.getData('text/plain') ?? ''
    if (data?.files.length) bring([...data.files])
    else if (isTooMuch(words)) attachWords(words)
    else return
    event.preventDefault()
  }
  function onPaste(event: ClipboardEvent): void {
    take(event, event.clipboardData)
  }
  function onDragOver(event: DragEvent): void {
    const types = event.dataTransfer?.types ?? []
    if (types.includes('text/plain') && !types.includes('Files')) return
    isOver.value = true
    event.preventDefault()
  }
  function onDrop(event: DragEvent): void {
    isOver.value = false
    take(event, event.dataTransfer)
  }
  return { notice, isOver, bring, attachWords, onPaste, onDragOver, onDrop }
}
