export { default as WritingPage } from './WritingPage.vue'
