import { onScopeDispose, ref, type Ref } from 'vue'

/** So near to an end of a list that scrolls it goes on by itself, and so far in one frame. */
const EDGE = 24
const STEP = 6

/**
 * Rows of `list` that are dragged to another place by a handle, with a mouse, a pen or a finger. `order` is how they stand
 * meanwhile, null while none is dragged; `drop` is told where the row was let go, and nothing is where it was left, as by
 * Escape. The rows name themselves by `data-queued`.
 */
export function useDragOrder(
  list: Ref<HTMLElement | null>,
  ids: () => readonly string[],
  drop: (ids: readonly string[], id: string) => void,
) {
  const order = ref<readonly string[] | null>(null)
  const dragged = ref<string | null>(null)
  let pointer = 0
  let at = 0
  let frame = 0
  const heard = new AbortController()

  function begin(id: string, event: PointerEvent): void {
    if (event.button !== 0 || dragged.value !== null || !ids().includes(id)) return
    event.preventDefault()
    pointer = event.pointerId
    at = event.clientY
    dragged.value = id
    order.value = [...ids()]
    // The list: a row that is put elsewhere in the page loses what it has captured.
    list.value?.setPointerCapture(pointer)
    frame = requestAnimationFrame(scrollOn)
  }
  function place(): void {
    const id = dragged.value
    const rows = [...(list.value?.querySelectorAll<HTMLElement>('[data-queued]') ?? [])]
    if (id === null || !order.value) return
    const others = order.value.filter((one) => one !== id && ids().includes(one))
    // A row is passed once the pointer is beyond its middle.
    const before = others.filter((one) => {
      const box = rows.find((row) => row.dataset['queued'] === one)?.getBoundingClientRect()
      return box !== undefined && box.top + box.height / 2 < at
    })
    const next = [...before, id, ...others.filter((one) => !before.includes(one))]
    if (next.join('\n') !== order.value.join('\n')) order.value = next
  }
  function scrollOn(): void {
    const box = list.value?.getBoundingClientRect()
    if (dragged.value === null || !box) return
    const by = at < box.top + EDGE ? -STEP : at > box.bottom - EDGE ? STEP : 0
    if (by !== 0) {
      list.value?.scrollBy({ top: by })
      place()
    }
    frame = requestAnimationFrame(scrollOn)
  }
  function move(event: PointerEvent): void {
    if (dragged.value === null || event.pointerId !== pointer) return
    at = event.clientY
    place()
  }
  /** Lets go. Where one was sent or taken away meanwhile, it is in no order any more. */
  function end(event: PointerEvent): void {
    if (dragged.value === null || event.pointerId !== pointer) return
    const [id, now, wanted] = [dragged.value, ids(), order.value ?? []]
    cancel()
    const next = [...wanted.filter((one) => now.includes(one)), ...now.filter((one) => !wanted.includes(one))]
    if (now.includes(id) && next.join('\n') !== now.join('\n')) drop(next, id)
  }
  function cancel(): void {
    cancelAnimationFrame(frame)
    dragged.value = order.value = null
  }
  function escape(event: KeyboardEvent): void {
    if (dragged.value === null || event.key !== 'Escape') return
    event.preventDefault()
    event.stopPropagation()
    cancel()
  }
  window.addEventListener('keydown', escape, { capture: true, signal: heard.signal })
  onScopeDispose(() => {
    heard.abort()
    cancel()
  })
  return { order, dragged, begin, move, end, cancel }
}
