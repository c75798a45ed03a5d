import { defineStore } from 'pinia'
import { ref } from 'vue'

/** Which conversation is being shared, if any. */
export const useShareDialog = defineStore('share-dialog', () => {
  const sessionId = ref<string | null>(null)
  return { sessionId }
})
