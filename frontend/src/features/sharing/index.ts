import { lazyPart } from '@/shared/ui/lazyPart'

export { useShareDialog } from './shareDialog'
export const ShareDialog = lazyPart(() => import('./ShareDialog.vue'))
export const SharesPage = lazyPart(() => import('./SharesPage.vue'))
