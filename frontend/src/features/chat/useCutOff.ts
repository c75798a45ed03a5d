import { ref, watch, type Ref } from 'vue'

/** So long a normal reconnect may take. */
const BLINK_MS = 700

/** Whether a stream is gone for more than the blink of an eye. */
export function useCutOff(isCut: () => boolean): Ref<boolean> {
  const isLate = ref(false)
  let timer = 0
  watch(isCut, (now) => {
    clearTimeout(timer)
    isLate.value = false
    if (now) timer = window.setTimeout(() => (isLate.value = true), BLINK_MS)
  })
  return isLate
}
