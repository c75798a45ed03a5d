export { default as BackgroundPanel } from './BackgroundPanel.vue'
export { shortCommand, withBackground, type BackgroundCommand } from './commands'
