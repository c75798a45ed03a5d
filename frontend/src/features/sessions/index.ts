export { default as SessionRail } from './SessionRail.vue'
export { keepOpen, lastOpen } from './lastOpen'
export { useSessions } from './store'
