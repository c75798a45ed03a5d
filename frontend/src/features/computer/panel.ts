import { defineStore } from 'pinia'
import { ref, watch } from 'vue'
import { recall, remember } from '@/shared/lib/storage'
import type { PanelId } from './panels'

export const NARROWEST = 38
export const WIDEST = 60
const clamp = (share: number): number => Math.min(WIDEST, Math.max(NARROWEST, share))

/** Whether and how the computer stands beside the conversation; remembered in this browser. */
export const usePanel = defineStore('panel', () => {
  const kept = recall('panel')
  const isOpen = ref(kept === 'open')
  const wasDecided = ref(kept !== null)
  const tab = ref<PanelId>('desktop')
  const width = ref(clamp(Number(recall('panel-width') ?? 46)))
  const shownFile = ref<string | null>(null)

  watch(width, (share) => remember('panel-width', String(Math.round(share))))

  function setOpen(open: boolean): void {
    isOpen.value = open
    wasDecided.value = true
    remember('panel', open ? 'open' : 'closed')
  }
  /** Slides in the first time the agent acts; from then on the person decides. */
  function offer(): void {
    if (!wasDecided.value) setOpen(true)
  }
  function showFile(path: string): void {
    shownFile.value = path.replace(/^\/workspace\//, '')
    tab.value = 'files'
    setOpen(true)
  }
  return {
    isOpen,
    tab,
    width,
    shownFile,
    setOpen,
    offer,
    showFile,
    resize: (share: number) => (width.value = clamp(share)),
  }
})
