import { usePreferredReducedMotion } from '@vueuse/core'
import { computed, onScopeDispose, ref, watch, type Ref } from 'vue'
import { isForAnother, useSwipe } from '@/shared/lib/useSwipe'

/** As wide as a thumb, and further from the border than what goes back in a browser. */
const EDGE = 40
const WIDEST = 320
const WIDE_PART = 0.86
const SETTLE_MS = 160

/**
 * The drawer follows the finger: it comes with one from the left edge of `page`, and goes with one to the left. Let go, it
 * settles where it was meant to go.
 */
export function useDrawerSwipe(isOpen: Ref<boolean>, page: () => HTMLElement | null) {
  const reduced = usePreferredReducedMotion()
  /** By how much it is out of its place; null where no finger moves it. */
  const shift = ref<number | null>(null)
  const isSettling = ref(false)
  let timer = 0
  /** Where it goes, while it does. */
  let goesOpen: boolean | null = null
  let way: 1 | -1 = 1
  const width = (): number => Math.min(WIDEST, window.innerWidth * WIDE_PART)
  const isIn = (target: EventTarget | null, part: string): boolean =>
    target instanceof Element && target.closest(part) !== null

  function rest(): void {
    clearTimeout(timer)
    isSettling.value = false
    shift.value = null
    goesOpen = null
  }
  function arrive(): void {
    if (goesOpen === null) return
    const open = goesOpen
    rest()
    isOpen.value = open
  }
  function settle(open: boolean): void {
    goesOpen = open
    if (reduced.value === 'reduce') return arrive()
    isSettling.value = true
    shift.value = open ? 0 : -width()
    timer = window.setTimeout(arrive, SETTLE_MS)
  }
  useSwipe({
    axis: 'x',
    enough: () => width() / 3,
    starts({ target, clientX }) {
      arrive()
      way = isOpen.value ? -1 : 1
      const isHere = isOpen.value
        ? isIn(target, '[data-drawer]')
        : clientX <= EDGE && target instanceof Node && page()?.contains(target) === true
      return isHere && !isForAnother(target) ? way : 0
    },
    moves(by) {
      rest()
      if (way === 1) isOpen.value = true
      shift.value = Math.min(0, way === 1 ? by - width() : -by)
      if (shift.value < -width()) shift.value = -width()
    },
    ends: (isMeant) => settle(isMeant === (way === 1)),
  })
  // Closed by another way.
  watch(isOpen, (is) => !is && rest())
  onScopeDispose(rest)

  const transition = computed(() => (isSettling.value ? `all ${SETTLE_MS}ms ease-out` : undefined))
  const drawer = computed(() =>
    shift.value === null ? {} : { transform: `translateX(${shift.value}px)`, transition: transition.value },
  )
  const shade = computed(() =>
    shift.value === null ? {} : { opacity: 1 + shift.value / width(), transition: transition.value },
  )
  return { drawer, shade, isPulled: () => shift.value !== null }
}
