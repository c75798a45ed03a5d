import { lazyPart } from '@/shared/ui/lazyPart'

export { shortCommand, withBackground, type BackgroundCommand } from './commands'
export const BackgroundPanel = lazyPart(() => import('./BackgroundPanel.vue'))
