import { computed, ref, type Ref } from 'vue'
import { createInAskedOrder } from '@/shared/lib/inAskedOrder'

/** A list of the server's that is loaded once and on occasion again; what was known stays where it can't say. */
export function offered<T>(read: () => Promise<T[]>) {
  const list = ref([]) as Ref<T[]>
  const hasAnswered = ref(false)
  const hasFailed = ref(false)
  /** Whether it was asked for, also in vain: until then nothing is to be said of what is on offer. */
  const isKnown = computed(() => hasAnswered.value || list.value.length > 0)

  const show = createInAskedOrder<T[]>((found) => (list.value = found))
  async function load(): Promise<void> {
    try {
      await show(read)
      hasFailed.value = false
    } catch {
      hasFailed.value = true
    }
    hasAnswered.value = true
  }
  /** Asks again where the last answer did not come. */
  async function retry(): Promise<void> {
    if (hasFailed.value) await load()
  }
  return { list, hasAnswered, isKnown, load, retry }
}
