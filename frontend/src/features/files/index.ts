import { lazyPart } from '@/shared/ui/lazyPart'

export { offerAnswerPictures } from './answerPictures'
export const FilesPanel = lazyPart(() => import('./FilesPanel.vue'))
