import { lazyPart } from '@/shared/ui/lazyPart'
import PanelAwaited from './PanelAwaited.vue'

export { hadComputer, knowComputer } from './knownComputers'
export { usePanel } from './panel'
export { nameOfPanel, panelNamed, shownPanel } from './panels'
export { PanelAwaited }
export { default as PanelHandle } from './PanelHandle.vue'
export const ComputerPanel = lazyPart(() => import('./ComputerPanel.vue'), PanelAwaited)
