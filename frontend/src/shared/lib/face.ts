import { ref, watch } from 'vue'
import { recall, remember } from './storage'

export type Face = 'user' | 'developer'
const KEY = 'face'

/** How much of the work the page shows: folded into a line, or every step with its tokens and events. */
export const face = ref<Face>(recall(KEY) === 'developer' ? 'developer' : 'user')
watch(face, (shown) => remember(KEY, shown === 'user' ? null : shown), { flush: 'sync' })
