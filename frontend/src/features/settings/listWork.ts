import { onScopeDispose, ref, shallowRef } from 'vue'
import { ApiError, fieldName } from '@/api/problems'
import { useProblemText } from '@/api/useProblemText'
import { createInAskedOrder } from '@/shared/lib/inAskedOrder'

function fieldOf(error: unknown): string {
  const [only, ...others] = error instanceof ApiError ? error.errors : []
  return only && others.length === 0 ? fieldName(only) : ''
}

/**
 * A list of a person's own things, and what is done about one of them: one at a time, with what went wrong. `fetch`
 * reads the list; its signal is that of the page's end.
 */
export function useListWork<Item, Doing extends string>(fetch: (signal: AbortSignal) => Promise<Item[]>) {
  const list = shallowRef<Item[] | null>(null)
  const doing = ref<Doing | null>(null)
  const problem = ref('')
  /** The field of what was sent that the problem is about, where it is about one alone. */
  const field = ref('')
  /** What the problem is about, and what is done about: an id, or '' for the page. */
  const about = ref('')
  const problemText = useProblemText()
  const ending = new AbortController()
  onScopeDispose(() => ending.abort())

  const show = createInAskedOrder<Item[]>((found) => (list.value = found))
  const fetched = (): Promise<void> => show(() => fetch(ending.signal))
  async function attempt(id: string, work: () => Promise<unknown>): Promise<boolean> {
    problem.value = field.value = ''
    about.value = id
    try {
      await work()
      return true
    } catch (error) {
      if (ending.signal.aborted) return false
      field.value = fieldOf(error)
      problem.value = problemText(error)
      return false
    }
  }
  /** Does it unless something else is being done; whether it was. */
  async function during(what: Doing, id: string, work: () => Promise<unknown>): Promise<boolean> {
    if (doing.value) return false
    doing.value = what as typeof doing.value
    try {
      return await attempt(id, work)
    } finally {
      doing.value = null
    }
  }
  /** The same, and reads the list anew. */
  const changing = (what: Doing, id: string, work: () => Promise<unknown>): Promise<boolean> =>
    during(what, id, async () => {
      await work()
      await fetched()
    })
  const load = (): Promise<boolean> => attempt('', fetched)
  /** Something happened: a fault of this look is not told, as nobody asked for it. */
  const refresh = (): void => {
    if (list.value && !doing.value) void fetched().catch(() => undefined)
  }
  return { list, doing, problem, field, about, load, refresh, during, changing }
}
