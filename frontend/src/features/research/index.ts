export { default as CorpusPage } from './CorpusPage.vue'
