export { default as SessionRail } from './SessionRail.vue'
export { default as SessionSearch } from './SessionSearch.vue'
export { useSessions } from './store'
