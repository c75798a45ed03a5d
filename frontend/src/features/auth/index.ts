import { lazyPart } from '@/shared/ui/lazyPart'

export { useAuth } from './store'
export const AccountSection = lazyPart(() => import('./AccountSection.vue'))
