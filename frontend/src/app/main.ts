import { createPinia } from 'pinia'
import { createApp } from 'vue'
import { i18n } from '@/i18n'
import { startTheme } from '@/shared/lib/theme'
import App from './App.vue'
import './style.css'
import './prose.css'
import { router } from './router'

startTheme()
createApp(App).use(createPinia()).use(i18n).use(router).mount('#app')
