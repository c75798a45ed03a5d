import { onScopeDispose, watch } from 'vue'
import { offerPictures } from '@/shared/lib/pictures'
import { workspacePath } from '@/shared/lib/workspacePath'
import { isImage } from './kinds'
import { pictureStore } from './pictureStore'

/** Of one document: what it names may be many and large, and lies in the page's memory. */
export const MOST_PICTURES = 20
export const LARGEST_PICTURE_BYTES = 8_000_000
export const LARGEST_TOGETHER_BYTES = 40_000_000

/** The file of the workspace that a document means by an address, null where it means none or one outside. */
export function pathBeside(document: string, address: string): string | null {
  const path = workspacePath(address)
  if (path === null) return null
  const steps = address.startsWith('/') ? [] : document.split('/').slice(0, -1)
  for (const step of path.split('/')) {
    if (step === '..' && steps.pop() === undefined) return null
    if (!['', '.', '..'].includes(step)) steps.push(step)
  }
  return steps.join('/') || null
}

/** Offers the pictures that lie beside a document. */
export function offerDocumentPictures(sessionId: () => string, document: () => string, version: () => number): void {
  const bounds = { most: MOST_PICTURES, bytes: LARGEST_PICTURE_BYTES, togetherBytes: LARGEST_TOGETHER_BYTES }
  const { find, forget } = pictureStore(sessionId, bounds)
  watch([sessionId, document, version], forget, { flush: 'sync' })
  onScopeDispose(forget)
  offerPictures((address) => {
    const path = pathBeside(document(), address)
    return path === null || !isImage(path) ? Promise.resolve(null) : find(path)
  }, version)
}
