import { lazyPart } from '@/shared/ui/lazyPart'

export { default as LoginPage } from './LoginPage.vue'
export { useAuth } from './store'
export const AccountSection = lazyPart(() => import('./AccountSection.vue'))
