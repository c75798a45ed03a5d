import { lazyPart } from '@/shared/ui/lazyPart'
import PanelAwaited from './PanelAwaited.vue'

export { usedScreen } from './following'
export { hadComputer, knowComputer } from './knownComputers'
export { usePanel } from './panel'
export { useFollowing } from './useFollowing'
export { FOLLOWS, panelNamed, shownPanel, type Offering } from './panels'
export { PanelAwaited }
export { default as PanelHandle } from './PanelHandle.vue'
export const ComputerPanel = lazyPart(() => import('./ComputerPanel.vue'), PanelAwaited)
