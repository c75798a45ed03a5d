export { default as SkillsPage } from './SkillsPage.vue'
