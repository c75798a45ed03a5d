export { default as LoginPage } from './LoginPage.vue'
export { useAuth } from './store'
