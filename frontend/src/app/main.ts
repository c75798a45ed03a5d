import { createPinia } from 'pinia'
import { createApp } from 'vue'
import { i18n, startLanguage } from '@/i18n'
import { startTheme } from '@/shared/lib/theme'
import App from './App.vue'
import './style.css'
import './prose.css'
import { router } from './router'
import { startVisibleArea } from './visibleArea'

startTheme()
startVisibleArea()
// The texts come while the router asks who is here.
const texts = startLanguage()
const app = createApp(App).use(createPinia()).use(i18n).use(router)
void texts.then(() => app.mount('#app'))
