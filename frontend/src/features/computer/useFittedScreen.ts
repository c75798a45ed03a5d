import { useDebounceFn, useElementSize, useDevicePixelRatio } from '@vueuse/core'
import { watch, type Ref } from 'vue'
import { sizeFor, sizeMessage } from './screenSize'

const SETTLED_MS = 200

/**
 * Asks for a desktop of the size of `box` once it is live, whenever the box has another size, and again with each
 * connection. Not while `mayChange` is false, as while the agent works with what it saw of it.
 */
export function useFittedScreen(
  box: Ref<HTMLElement | null>,
  isLive: () => boolean,
  mayChange: () => boolean,
  send: (message: Uint8Array<ArrayBuffer>) => void,
): void {
  const { width, height } = useElementSize(box)
  const { pixelRatio } = useDevicePixelRatio()

  function ask(): void {
    const size = sizeFor({ width: width.value, height: height.value }, pixelRatio.value)
    if (size && isLive() && mayChange()) send(sizeMessage(size))
  }
  // A panel that is dragged, or slides in, asks once.
  const askSoon = useDebounceFn(ask, SETTLED_MS)
  watch([width, height, pixelRatio, mayChange], () => void askSoon())
  watch(isLive, (is) => is && ask(), { flush: 'post' })
}
