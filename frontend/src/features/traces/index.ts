import { lazyPart } from '@/shared/ui/lazyPart'

export { withModelCall, type ModelCall } from './modelCalls'
export const EventsPanel = lazyPart(() => import('./EventsPanel.vue'))
export const ModelCallsPanel = lazyPart(() => import('./ModelCallsPanel.vue'))
