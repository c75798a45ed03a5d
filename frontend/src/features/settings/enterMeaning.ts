import { ref, watch } from 'vue'
import { recall, remember } from '@/shared/lib/storage'

const KEY = 'enter'
export const MEANINGS = ['interrupts', 'waits', 'queues'] as const
export type EnterMeaning = (typeof MEANINGS)[number]
export const meaningOf = (told: unknown): EnterMeaning => MEANINGS.find((one) => one === told) ?? 'interrupts'
/** What Enter does while the agent works: it cuts in, or what is written waits for the step at hand, or for the end of the
 * run and what waits for that already. Alt+Enter cuts in where Enter does not, and else waits for the step. */
export const enterMeans = ref<EnterMeaning>(meaningOf(recall(KEY)))
watch(enterMeans, (means) => remember(KEY, means === 'interrupts' ? null : means), { flush: 'sync' })
