import { lazyPart } from '@/shared/ui/lazyPart'

export { withPort } from './openPorts'
export { default as PortLine } from './PortLine.vue'
export { provideOpenPorts } from './providedPorts'
export const PortsPanel = lazyPart(() => import('./PortsPanel.vue'))
