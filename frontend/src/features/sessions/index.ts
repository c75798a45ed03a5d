export { default as SessionRail } from './SessionRail.vue'
export { useSessions } from './store'
