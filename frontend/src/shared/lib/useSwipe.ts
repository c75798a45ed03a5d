import { useEventListener } from '@vueuse/core'

/** A finger that moved no further than this rests; then it is known where it goes. */
const SLOP = 12
/** How much further it goes along than across. */
const STRAIGHT = 1.2
/** Pixels in a millisecond at which it is thrown, however far it came. */
const THROWN = 0.4

interface Swipe {
  readonly axis: 'x' | 'y'
  /** The direction in which a finger that comes down here may swipe; 0 where it is for something else. */
  readonly starts: (event: PointerEvent) => 1 | -1 | 0
  /** `by`: pixels in that direction, which may be less than none. */
  readonly moves: (by: number) => void
  /** `isMeant`: it went on to the end or was thrown there, and not back; `enough` are the pixels that are far enough. */
  readonly ends: (isMeant: boolean) => void
  readonly enough: () => number
}

/**
 * A finger that swipes along one axis. What the browser itself makes of it, a text that scrolls for example, ends it; a mouse
 * does not swipe. Where it starts, `touch-action` must leave that axis to the page.
 */
export function useSwipe(swipe: Swipe): void {
  let held: {
    id: number
    x: number
    y: number
    way: 1 | -1
    isOurs: boolean
    by: number
    at: number
    speed: number
  } | null = null

  function end(isMeant: boolean): void {
    const wasOurs = held?.isOurs
    held = null
    if (wasOurs) swipe.ends(isMeant)
  }
  useEventListener(window, 'pointerdown', (event) => {
    if (event.pointerType !== 'touch') return
    // A second finger means something else.
    if (held || !event.isPrimary) return end(false)
    const way = swipe.starts(event)
    if (way === 0) return
    held = {
      id: event.pointerId,
      x: event.clientX,
      y: event.clientY,
      way,
      isOurs: false,
      by: 0,
      at: event.timeStamp,
      speed: 0,
    }
  })
  useEventListener(window, 'pointermove', (event) => {
    if (held?.id !== event.pointerId) return
    const [x, y] = [event.clientX - held.x, event.clientY - held.y]
    const [along, across] = swipe.axis === 'x' ? [x * held.way, Math.abs(y)] : [y * held.way, Math.abs(x)]
    if (!held.isOurs) {
      if (Math.max(Math.abs(along), across) < SLOP) return
      held.isOurs = along > across * STRAIGHT
      if (!held.isOurs) return void (held = null)
    }
    held.speed = (along - held.by) / Math.max(1, event.timeStamp - held.at)
    held.by = along
    held.at = event.timeStamp
    swipe.moves(along)
  })
  useEventListener(window, 'pointerup', (event) => {
    if (held?.id !== event.pointerId) return
    const { by, speed } = held
    end(speed > THROWN || (by >= swipe.enough() && speed > -THROWN))
  })
  useEventListener(window, 'pointercancel', (event) => held?.id === event.pointerId && end(false))
}

/**
 * Whether a finger here moves something else sideways: a wide table, a screen, a slider. In what scrolls, the browser takes it
 * unless `touch-action` says otherwise there, however wide it is.
 */
export function isForAnother(target: EventTarget | null): boolean {
  for (let element = target instanceof Element ? target : null; element; element = element.parentElement) {
    if (element.matches('[role=application], canvas, select, input[type=range]')) return true
    const { overflowX, touchAction } = getComputedStyle(element)
    if (touchAction === 'none') return true
    if (/auto|scroll/.test(overflowX) && !/^pan-(y|up|down)/.test(touchAction)) return true
  }
  return false
}
