import { computed, nextTick, ref, watch } from 'vue'

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

/**
 * What is wrong with the fields of a form, each said at its field, of which the first has the focus then. What the
 * server refused is said there too, where it is about one of `fields`, which are those that are shown, and else by `other`.
 */
export function useWrongFields<Field extends string>(
  form: () => HTMLElement | null,
  fields: () => readonly Field[],
  refused: () => Refusal,
) {
  const found = ref<Partial<Record<Field, string>>>({})
  const refusedAt = computed(() => fields().find((field) => field === refused().at))
  const hasFound = (): boolean => Object.keys(found.value).length > 0
  const wrong = computed<Partial<Record<Field, string>>>(() => {
    const own = found.value as Partial<Record<Field, string>>
    return hasFound() || !refusedAt.value || !refused().text
      ? own
      : ({ [refusedAt.value]: besideField(refused()) } as typeof own)
  })
  const other = computed(() => (hasFound() || refusedAt.value ? '' : refused().text))

  async function toFirst(): Promise<void> {
    await nextTick()
    form()?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }
  /** Whether nothing is wrong; what is, by its field, is said. */
  function passes(problems: Partial<Record<Field, string | false>>): boolean {
    const told = Object.entries(problems).filter(([, text]) => text)
    found.value = Object.fromEntries(told) as typeof found.value
    if (told.length > 0) void toFirst()
    return told.length === 0
  }
  watch(refused, ({ text }) => text && refusedAt.value && void toFirst())
  return { wrong, other, passes }
}
