import { lazyPart } from '@/shared/ui/lazyPart'

export { withModelCall, type ModelCall } from './modelCalls'
export const ModelCallsPanel = lazyPart(() => import('./ModelCallsPanel.vue'))
