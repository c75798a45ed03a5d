export { default as SessionRail } from './SessionRail.vue'
export { useFolders } from './folders'
export { keepOpen, lastOpen } from './lastOpen'
export { useSessions } from './store'
