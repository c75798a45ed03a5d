import { computed, nextTick, onMounted, reactive, ref, useTemplateRef, watch, type Reactive } from 'vue'
import { changesOf, escapeForm, useUnsaved } from '@/shared/lib/unsaved'

/** What went wrong when a form was sent, in words; `at` is the server's name for the field it is about, or ''. */
export interface Refusal {
  readonly text: string
  readonly at: string
}

/** Without the server's name for the field, which says nothing beside it. */
function besideField({ text, at }: Refusal): string {
  const told = text.startsWith(`${at}: `) ? text.slice(at.length + 2) : text.replace(`：${at}: `, '：')
  return told.charAt(0).toUpperCase() + told.slice(1)
}

interface FormOptions<Draft extends object, Field extends string> {
  /** What stands in it at first, which is plain data. */
  readonly draft: Draft
  /** The server's names for the fields that are shown. */
  readonly fields: (draft: Draft) => readonly Field[]
  readonly refused: () => Refusal
  readonly isBusy: () => boolean
  readonly cancel: () => void
}

/**
 * A form of the settings, whose element has the name `root`; the field with `data-first` has the focus at first.
 * What is wrong is said at its field, of which the first has the focus then; what the server refused is said there too,
 * where it is about one of `fields`, and else by `other`. What was changed is not left without a question.
 */
export function useForm<Draft extends object, Field extends string>(options: FormOptions<Draft, Field>) {
  const root = useTemplateRef<HTMLElement>('root')
  const draft: Reactive<Draft> = reactive(options.draft)
  const isChanged = changesOf(() => draft)
  const found = ref<Partial<Record<Field, string>>>({})
  const refusedAt = computed(() => options.fields(draft as Draft).find((field) => field === options.refused().at))
  const hasFound = (): boolean => Object.keys(found.value).length > 0
  const wrong = computed<Partial<Record<Field, string>>>(() => {
    const own = found.value as Partial<Record<Field, string>>
    return hasFound() || !refusedAt.value || !options.refused().text
      ? own
      : ({ [refusedAt.value]: besideField(options.refused()) } as typeof own)
  })
  const other = computed(() => (hasFound() || refusedAt.value ? '' : options.refused().text))

  async function toFirst(): Promise<void> {
    await nextTick()
    root.value?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }
  /** Whether it may be sent: nothing is wrong, and it is not being sent already. What is wrong, by its field, is said. */
  function passes(problems: Partial<Record<Field, string | false>>): boolean {
    const told = Object.entries(problems).filter(([, text]) => text)
    found.value = Object.fromEntries(told) as typeof found.value
    if (told.length > 0) void toFirst()
    return told.length === 0 && !options.isBusy()
  }
  const onEscape = (event: KeyboardEvent): void => escapeForm(event, options.cancel)
  watch(options.refused, ({ text }) => text && refusedAt.value && void toFirst())
  useUnsaved(() => root.value, isChanged)
  onMounted(() => root.value?.querySelector<HTMLElement>('[data-first]')?.focus())
  return { draft, wrong, other, passes, onEscape }
}
