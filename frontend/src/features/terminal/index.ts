export { default as TerminalPanel } from './TerminalPanel.vue'
