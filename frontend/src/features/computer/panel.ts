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
  /** The tab is that of the tool at work, until the person chooses. */
  const isFollowing = ref(true)
  /** The call that is looked at as it was, by its key; null shows what is now. */
  const shownCall = ref<string | null>(null)
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
  /** The person looks at this panel, and stays there. */
  function choose(id: PanelId): void {
    tab.value = id
    isFollowing.value = false
    shownCall.value = null
  }
  /** The person looks at a call as it was; one that was at work nowhere leaves the tab as it is. */
  function showCall(key: string, id: PanelId | null): void {
    isFollowing.value = false
    shownCall.value = key
    if (id !== null) tab.value = id
  }
  /** What is looked at stays, as with somebody at the wheel. */
  function hold(): void {
    isFollowing.value = false
  }
  function follow(): void {
    isFollowing.value = true
    shownCall.value = null
  }
  function showFile(path: string): void {
    shownFile.value = path.replace(/^\/workspace\//, '')
    choose('files')
    setOpen(true)
  }
  return {
    isOpen,
    tab,
    isFollowing,
    shownCall,
    width,
    shownFile,
    setOpen,
    offer,
    choose,
    showCall,
    hold,
    follow,
    showFile,
    resize: (share: number) => (width.value = clamp(share)),
  }
})
