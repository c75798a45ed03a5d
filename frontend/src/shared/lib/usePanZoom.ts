import { useEventListener } from '@vueuse/core'
import { computed, ref, type Ref } from 'vue'
import { fitted, moved, spread, STEP, zoomed, type Point, type Size } from './panZoom'

const KEY_STEP = 48
/** A press that moves no further than this is one. */
const STILL = 4
const WHEEL_LINE = 16

/**
 * A place whose picture is moved by dragging and by the arrow keys, and made larger by pinching, by the wheel with Ctrl and by
 * the keys + and -. As long as all of it is seen the wheel, a finger and the arrow keys belong to the page.
 */
export function usePanZoom(place: Readonly<Ref<HTMLElement | null>>) {
  const view = ref(fitted)
  const isZoomed = computed(() => view.value.scale > 1)
  const fingers = new Map<number, Point>()
  const isHeld = ref(false)
  /** Whether the press that is ending has moved the picture, and is none on what lies there. */
  let hasMoved = false

  const size = (): Size => ({ width: place.value?.clientWidth ?? 0, height: place.value?.clientHeight ?? 0 })
  function pointOf(event: MouseEvent): Point {
    const { left = 0, top = 0 } = place.value?.getBoundingClientRect() ?? {}
    return { x: event.clientX - left, y: event.clientY - top }
  }
  function zoomBy(factor: number, at?: Point): void {
    const { width, height } = size()
    view.value = zoomed(view.value, factor, at ?? { x: width / 2, y: height / 2 }, size())
  }
  const fit = (): void => void (view.value = fitted)

  useEventListener(
    place,
    'wheel',
    (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      zoomBy(Math.exp(-event.deltaY * (event.deltaMode === 1 ? WHEEL_LINE : 1) * 0.004), pointOf(event))
    },
    { passive: false },
  )
  useEventListener(place, 'pointerdown', (event: PointerEvent) => {
    if (event.button !== 0) return
    if (fingers.size === 0) hasMoved = false
    fingers.set(event.pointerId, pointOf(event))
    isHeld.value = true
  })
  useEventListener(place, 'pointermove', (event: PointerEvent) => {
    const held = fingers.get(event.pointerId)
    if (!held) return
    const point = pointOf(event)
    if (!hasMoved && fingers.size === 1 && Math.hypot(point.x - held.x, point.y - held.y) < STILL) return
    if (!hasMoved) place.value?.setPointerCapture(event.pointerId)
    hasMoved = true
    const before = spread([...fingers.values()])
    fingers.set(event.pointerId, point)
    const after = spread([...fingers.values()])
    const by = { x: after.middle.x - before.middle.x, y: after.middle.y - before.middle.y }
    const larger = before.distance > 0 ? after.distance / before.distance : 1
    view.value = moved(zoomed(view.value, larger, before.middle, size()), by, size())
  })
  useEventListener(place, ['pointerup', 'pointercancel', 'lostpointercapture'], (event: PointerEvent) => {
    // The capture ends with the press itself, after which another one may have begun.
    if (event.type === 'lostpointercapture' && event.buttons !== 0) return
    fingers.delete(event.pointerId)
    isHeld.value = fingers.size > 0
  })
  useEventListener(place, 'keydown', (event: KeyboardEvent) => {
    if (event.target !== place.value || event.ctrlKey || event.metaKey || event.altKey) return
    const by = {
      ArrowLeft: { x: KEY_STEP, y: 0 },
      ArrowRight: { x: -KEY_STEP, y: 0 },
      ArrowUp: { x: 0, y: KEY_STEP },
      ArrowDown: { x: 0, y: -KEY_STEP },
    }[event.key]
    if (by && !isZoomed.value) return
    if (by) view.value = moved(view.value, by, size())
    else if (event.key === '+' || event.key === '=') zoomBy(STEP)
    else if (event.key === '-') zoomBy(1 / STEP)
    else if (event.key === '0') fit()
    else return
    event.preventDefault()
    event.stopPropagation()
  })

  return { view, isZoomed, isHeld, zoomBy, fit, wasDragged: () => hasMoved }
}
