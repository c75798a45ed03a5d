import { offerLightbox } from '@/shared/lib/lightbox'
import { lazyPart } from '@/shared/ui/lazyPart'

const LightBox = lazyPart(() => import('@/shared/ui/LightBox.vue'))

/** Pictures of the page can be seen large, by a part that comes with the first one. */
export function useLightboxPart() {
  return { LightBox, lightbox: offerLightbox() }
}
