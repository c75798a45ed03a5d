export { withPort } from './openPorts'
export { default as PortLine } from './PortLine.vue'
export { default as PortsPanel } from './PortsPanel.vue'
export { provideOpenPorts } from './providedPorts'
