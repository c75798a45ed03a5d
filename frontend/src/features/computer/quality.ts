import { ref, watch } from 'vue'
import { recall, remember } from '@/shared/lib/storage'

/** How well the picture of the desktop is sent, by what it costs. */
export const QUALITIES = {
  sharp: { quality: 9, compression: 1 },
  balanced: { quality: 6, compression: 2 },
  saving: { quality: 1, compression: 9 },
} as const
export type Quality = keyof typeof QUALITIES

const isQuality = (name: unknown): name is Quality => typeof name === 'string' && Object.hasOwn(QUALITIES, name)
const kept = recall('desktop-quality')

/** Of this browser: it is its line that is fast or slow. */
export const quality = ref<Quality>(isQuality(kept) ? kept : 'balanced')
watch(quality, (is) => remember('desktop-quality', is))

export function nextQuality(): void {
  const names = Object.keys(QUALITIES).filter(isQuality)
  quality.value = names[(names.indexOf(quality.value) + 1) % names.length] ?? 'balanced'
}
