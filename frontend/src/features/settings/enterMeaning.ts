import { ref, watch } from 'vue'
import { recall, remember } from '@/shared/lib/storage'

const KEY = 'enter'
/** What Enter does while the agent works: it cuts in, or what is written waits for the step at hand. Alt+Enter does the other. */
export const enterCutsIn = ref(recall(KEY) !== 'waits')
watch(enterCutsIn, (cutsIn) => remember(KEY, cutsIn ? null : 'waits'), { flush: 'sync' })
