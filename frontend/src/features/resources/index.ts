import { lazyPart } from '@/shared/ui/lazyPart'

export { keptOf, withKept } from './kept'
export const ResourcesPanel = lazyPart(() => import('./ResourcesPanel.vue'))
export const KeptFold = lazyPart(() => import('./KeptFold.vue'))
