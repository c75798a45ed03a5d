export { offerAnswerPictures } from './answerPictures'
export { default as FilesPanel } from './FilesPanel.vue'
