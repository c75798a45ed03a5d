export { default as AccountSection } from './AccountSection.vue'
export { default as LoginPage } from './LoginPage.vue'
export { useAuth } from './store'
