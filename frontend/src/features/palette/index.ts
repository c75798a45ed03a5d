import { lazyPart } from '@/shared/ui/lazyPart'

export const CommandPalette = lazyPart(() => import('./CommandPalette.vue'))
