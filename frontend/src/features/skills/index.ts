import { lazyPart } from '@/shared/ui/lazyPart'

export const SkillsPage = lazyPart(() => import('./SkillsPage.vue'))
