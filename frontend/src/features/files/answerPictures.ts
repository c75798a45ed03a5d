import { onScopeDispose, watch } from 'vue'
import { offerPictures } from '@/shared/lib/pictures'
import { pathBeside } from './documentPictures'
import { isImage } from './kinds'
import { pictureStore } from './pictureStore'

const BOUNDS = { most: 100, bytes: 8_000_000, togetherBytes: 100_000_000 }

export interface AnswerPictures {
  readonly sessionId: () => string
  /** Grows when files changed. */
  readonly version: () => number
  /** Whether files can be read: to look at a conversation starts no computer. */
  readonly isReady: () => boolean
  /** Whether the agent is at work: it may name a file before it has written it. */
  readonly isRunning: () => boolean
}

/** Offers the pictures of the workspace that answers name. */
export function offerAnswerPictures({ sessionId, version, isReady, isRunning }: AnswerPictures): void {
  const { find, renew, forget } = pictureStore(sessionId, BOUNDS)
  watch(sessionId, forget, { flush: 'sync' })
  watch([version, isReady, isRunning], renew, { flush: 'sync' })
  onScopeDispose(forget)
  offerPictures(
    async (address) => {
      const path = pathBeside('', address)
      if (path === null || !isImage(path) || !isReady()) return null
      const found = await find(path)
      return found === 'missing' && isRunning() ? null : found
    },
    () => [sessionId(), version(), isReady(), isRunning()].join(),
  )
}
